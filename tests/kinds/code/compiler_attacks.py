"""Attacks on compilers and on what they leave: of each its language, and a program that is right if it gets through."""

from __future__ import annotations

from tests.kinds.code.sums import SOLUTIONS

_CPP, _JAVA, _GO, _KOTLIN, _JS = (SOLUTIONS[name] for name in ("cpp", "java", "go", "kotlin", "javascript"))
_NO_CPP = "class Solution { public: long long total(vector<long long>& numbers) { return 0; } };\n"
_NO_JAVA = "class Solution { public long total(long[] numbers) { return 0; } }\n"

_CPP_ATTACKS = {
    "includes a file of the host": '#include "/etc/passwd"\n' + _CPP.format(""),
    "includes a device": '#include "/dev/zero"\n' + _CPP.format(""),
    "includes itself": '#include "solution.cpp"\n' + _CPP.format(""),
    "includes its harness": '#include "main.cpp"\n' + _CPP.format(""),
    "includes what it may not know": '#include "/source/../etc/shadow"\n' + _CPP.format(""),
    "asks whether a file of the host is there": '#if !__has_include("/etc/shadow")\n#error no\n#endif\n'
    + _CPP.format(""),
    "depends on a file of the host": '#pragma GCC dependency "/etc/shadow"\n' + _CPP.format(""),
    "embeds a file of the host": '#embed "/etc/shadow"\n' + _CPP.format(""),
    "takes in a file by the assembler": 'asm(".incbin \\"/root/.bashrc\\"");\n' + _CPP.format(""),
    "has the assembler read a file of the host": 'asm(".include \\"/etc/shadow\\"");\n' + _CPP.format(""),
    "templates without end": "template<int N> struct X { X<N + 1> x; }; X<0> x;\n" + _CPP.format(""),
    "templates that double": "template<int N, long M> struct X { X<N - 1, 2 * M> a; X<N - 1, 2 * M + 1> b; };\n"
    "template<long M> struct X<0, M> {}; X<40, 0> x;\n" + _CPP.format(""),
    "a constant that takes for ever": "constexpr long f() { long n = 0; while (n >= 0) n ^= 1; return n; }\n"
    "constexpr long v = f();\n" + _CPP.format(""),
    "a macro that explodes": "".join(f"#define M{i} M{i + 1} M{i + 1} M{i + 1} M{i + 1}\n" for i in range(16))
    + "#define M16 +1\nlong x = 0 M0;\n"
    + _NO_CPP,
    "a flood of errors": "".join(f"#define E{i} E{i + 1} E{i + 1} E{i + 1} E{i + 1}\n" for i in range(9))
    + "#define E9 nonsense;\nE0\n"
    + _CPP.format(""),
    "a program of a gigabyte": "char big[1 << 30] = {1};\n" + _CPP.format("big[7] = 1;"),
    "a program of a terabyte of nothing": "char big[1L << 40];\n" + _CPP.format("big[7] = 1;"),
    "an object of many gigabytes": 'asm(".fill 0x1ffffffff");\n' + _CPP.format(""),
    "an assembler that repeats without end": 'asm(".rept 1000000000\\nnop\\n.endr");\n' + _CPP.format(""),
    "answers before main": '#include <unistd.h>\nstruct A { A() { puts("\\n=answer=\\n0"); fflush(stdout); _exit(0); } } a;\n'
    + _NO_CPP,
    "changes a program of the system": "#include <fstream>\n"
    + _CPP.format('if (!ofstream("/usr/bin/g++", ios::app)) throw 1;'),
}

_WRITES_JAVA = """
class P extends javax.annotation.processing.AbstractProcessor {{
    static {{ try {{ new java.io.File("/work/seen").createNewFile(); }} catch (Exception e) {{ }} }}
    public boolean process(Set<? extends javax.lang.model.element.TypeElement> a, javax.annotation.processing.RoundEnvironment r) {{
        return false; }}
}}
"""
_UNLESS_SEEN = 'if (!new java.io.File("/work/seen").exists()) throw new RuntimeException();'
_TRIES_JAVA = "try {{ {} }} catch (Exception e) {{ throw new RuntimeException(e); }}"
_JAVA_ATTACKS = {
    "answers before main": 'class Solution { static { System.out.println("\\n=answer=\\n0"); System.out.flush(); '
    "Runtime.getRuntime().halt(0); } public long total(long[] n) { return 0; } }",
    "starts a process": _JAVA.format(_TRIES_JAVA.format('new ProcessBuilder("true").start();')),
    "reads the harness's host": _JAVA.format(
        _TRIES_JAVA.format('java.nio.file.Files.readString(java.nio.file.Path.of("/etc/shadow"));')
    ),
    "an annotation processor of its own": _WRITES_JAVA.format()
    + '@javax.annotation.processing.SupportedAnnotationTypes("*") @interface Q {}\n@Q '
    + _JAVA.format(_UNLESS_SEEN),
    "a module that provides a processor": "module x { provides javax.annotation.processing.Processor with P; }\n"
    + _WRITES_JAVA.format()
    + _JAVA.format(_UNLESS_SEEN),
    "a constant that doubles": 'class C { static final String S0 = "aaaaaaaa";\n'
    + "".join(f"static final String S{i} = S{i - 1} + S{i - 1};\n" for i in range(1, 31))
    + "}\n"
    + _JAVA.format("if (C.S30.isEmpty()) return 0;"),
    "a table of a hundred thousand numbers": "class C { static int[] t = {"
    + "1234567," * 100_000
    + "}; }\n"
    + _JAVA.format(""),
    "blocks that double": _JAVA.format("int z = 0; " + "try { z++; } finally { " * 30 + "z--;" + " }" * 30),
    "lambdas that are tried in every order": "class C { interface F { Object f(Object o); } interface G { Object g(Object o); }\n"
    "static Object m(F f) { return f; } static Object m(G g) { return g; }\nstatic Object o = "
    + "".join(f"m(x{i} -> " for i in range(24))
    + "1"
    + ")" * 24
    + "; }\n"
    + _JAVA.format(""),
    "a sum that is nested too deeply": _JAVA.format("long z = " + "(1 + " * 60_000 + "1" + ")" * 60_000 + ";"),
    "a flood of errors": "class C { void f() { " + "x = y; " * 200_000 + "} }\n" + _JAVA.format(""),
    "a flood of classes": "".join(f"class C{i} {{}}\n" for i in range(60_000)) + _JAVA.format(""),
    "changes the classes of all": _JAVA.format(
        _TRIES_JAVA.format(
            'new java.io.RandomAccessFile(System.getProperty("java.home") + "/lib/modules", "rw").write(1);'
        )
    ),
}

_GO_ATTACKS = {
    "links into the runtime": 'import _ "unsafe"\n//go:linkname raw syscall.RawSyscall\n'
    "func raw(a, b, c, d uintptr) (uintptr, uintptr, uintptr)\n"
    + _GO.format("_, _, e := raw(57, 0, 0, 0); if e != 0 { panic(e) }"),
    "replaces a function of the harness": 'import _ "unsafe"\n//go:linkname mine main.hWriteInt\n'
    "func mine(v int) { hOut = append(hOut, 48, 10) }\nfunc total(numbers []int) int { return 1 }",
    "embeds a file of the host": 'import _ "embed"\n//go:embed /etc/passwd\nvar s string\n' + _GO.format("_ = s"),
    "embeds what lies beside it": 'import _ "embed"\n//go:embed main.go\nvar s string\n' + _GO.format("_ = s"),
    "C by cgo": '// #include "/etc/passwd"\nimport "C"\n' + _GO.format(""),
    "flags of the linker": '//go:cgo_ldflag "-fplugin=/work/x.so"\nimport "fmt"\n' + _GO.format("fmt.Print()"),
    "a library that is loaded": '//go:cgo_import_dynamic libc_fork fork "libc.so.6"\nvar libc_fork uintptr\n'
    + _GO.format("_ = libc_fork"),
    "has a program generated": 'import "os"\n//go:generate touch /work/seen\n'
    + _GO.format('if _, e := os.Stat("/work/seen"); e != nil { panic(e) }'),
    "takes its lines from elsewhere": 'import "os"\n//line /etc/shadow:1\n'
    + _GO.format('if _, e := os.ReadFile("/etc/shadow"); e != nil { panic(e) }'),
    "starts a process": 'import "os/exec"\n' + _GO.format('exec.Command("true").Run()'),
    "a constant that doubles": 'const s0 = "aaaaaaaa"\n'
    + "".join(f"const s{i} = s{i - 1} + s{i - 1}\n" for i in range(1, 33))
    + _GO.format("if len(numbers) == 99 { println(s32) }"),
    "types that double": "type P[A, B any] struct { a *A; b *B }\ntype t0 = P[int, int]\n"
    + "".join(f"type t{i} = P[t{i - 1}, t{i - 1}]\n" for i in range(1, 33))
    + _GO.format("var x any = t32{}; _ = x"),
    "functions that are made without end": "func g[T any](n int) any { if n < 0 { return nil }; return g[[]T](n - 1) }\n"
    + _GO.format("g[int](9)"),
    "a table of a gigabyte": "var big = [1 << 27]int{1<<27 - 1: 1}\n" + _GO.format("big[7] = 1"),
    "a variable of a terabyte": "var big [1 << 40]byte\n" + _GO.format("big[7] = 1"),
    "a sum that is nested too deeply": _GO.format("z := " + "(1 + " * 2_000_000 + "1" + ")" * 2_000_000 + "; _ = z"),
    "a flood of errors": _GO.format("x = y; " * 200_000),
    "changes the packages of all": 'import "os"\nimport "bufio"\nimport "strings"\n'
    + _GO.format(
        'm, _ := os.Open("/proc/self/mountinfo"); lines := bufio.NewScanner(m); done := false; for lines.Scan() {'
        ' d := strings.Fields(lines.Text())[4]; if d == "/tmp" || strings.HasPrefix(d, "/dev") { continue };'
        ' for _, n := range []string{"/x", "/importcfg", "/pkg/tool/x"} {'
        " f, e := os.OpenFile(d+n, os.O_RDWR|os.O_CREATE, 0666); if e == nil { f.Close(); done = true } } };"
        ' if !done { panic("no") }'
    ),
}

_KOTLIN_ATTACKS = {
    "depends on what is elsewhere": '@file:DependsOn("https://127.0.0.1/x.jar")\n' + _KOTLIN.format(""),
    "takes in a file of the host": '@file:Import("/etc/passwd")\n' + _KOTLIN.format(""),
    "a plugin of the compiler": '@file:CompilerOptions("-Xplugin=/work/x.jar")\n' + _KOTLIN.format(""),
    "starts a process": _KOTLIN.format('ProcessBuilder("true").start()'),
    "reads the host's users": _KOTLIN.format('java.io.File("/etc/shadow").readText()'),
    "a class outside of its folder": '@file:Suppress("INVALID_CHARACTERS")\nclass `../../tmp/x`\n'
    + _KOTLIN.format('if (!java.io.File("/tmp/x.class").exists()) error("no")'),
    "a class in the place of the harness": '@file:JvmName("Main")\nfun main() { print("\\n=answer=\\n0\\n") }\n'
    + _KOTLIN.format(""),
    "a constant that doubles": 'const val s0 = "aaaaaaaa"\n'
    + "".join(f"const val s{i} = s{i - 1} + s{i - 1}\n" for i in range(1, 31))
    + _KOTLIN.format("if (s30.isEmpty()) return 0"),
    "a branch of ten thousand cases": _KOTLIN.format(
        "var z = 0; for (n in numbers) z += when (n) { "
        + "; ".join(f"{i}L * z -> {i}" for i in range(10_000))
        + "; else -> 0 }"
    ),
    "functions that are inlined and double": "inline fun f0(g: () -> Unit) { g(); g() }\n"
    + "".join(f"inline fun f{i}(g: () -> Unit) {{ f{i - 1}(g); f{i - 1}(g) }}\n" for i in range(1, 26))
    + _KOTLIN.format("var z = 0; f25 { z++ }"),
    "blocks that double": _KOTLIN.format("var z = 0; " + "try { z++ } finally { " * 30 + "z--" + " }" * 30),
    "types that double": "class P<A, B>\ntypealias T0 = P<Int, Int>\n"
    + "".join(f"typealias T{i} = P<T{i - 1}, T{i - 1}>\n" for i in range(1, 31))
    + _KOTLIN.format("val x: T30? = null; println(x)"),
    "lambdas that are tried in every order": 'fun m(f: (Int) -> Any): Any = 1\nfun m(f: (String) -> Any): Any = ""\nval o = '
    + "m({ x -> " * 24
    + "1"
    + " })" * 24
    + "\n"
    + _KOTLIN.format(""),
    "a sum that is nested too deeply": _KOTLIN.format("val z = " + "(1 + " * 60_000 + "1" + ")" * 60_000),
    "a flood of errors": _KOTLIN.format("x = y; " * 100_000),
    "a flood of classes": "".join(f"class C{i}\n" for i in range(20_000)) + _KOTLIN.format(""),
    "changes the library of all": _KOTLIN.format(
        'val library = System.getProperty("java.class.path").split(":").first { "stdlib" in it }; '
        'java.io.RandomAccessFile(library, "rw").write(1)'
    ),
}

_JAVASCRIPT_ATTACKS = {
    "answers before it is asked": 'process.stdout.write("\\n=answer=\\n0\\n"); process.exit(0);\n' + _JS.format(""),
    "starts a process": _JS.format('require("child_process").execFileSync("/bin/true")'),
    "starts a process behind Node's back": _JS.format(
        'const r = process.binding("spawn_sync").spawn({ file: "/bin/true", args: ["true"], stdio: [] }); if (r.error) throw r'
    ),
    "reads the host's users": _JS.format('require("fs").readFileSync("/etc/shadow")'),
    "loads a library of the system": _JS.format('process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6")'),
    "changes the harness": _JS.format('require("fs").appendFileSync("/work/main.js", "x")'),
    "changes Node": _JS.format('require("fs").openSync(process.execPath, "r+")'),
    "looks for what is expected": _JS.format("return require.main.children[0].expected"),
    "lifts its bound on memory": _JS.format(
        'require("v8").setFlagsFromString("--max-old-space-size=9000"); const v = []; for (;;) v.push(new Array(1 << 17).fill(1.5))'
    ),
    "memory that is outside of the heap": _JS.format("const v = []; for (;;) v.push(Buffer.alloc(1 << 24, 1))"),
    "floods its output": _JS.format('for (;;) require("fs").writeSync(1, "x".repeat(1 << 16))'),
    "a sum that is nested too deeply": _JS.format("const z = " + "(1 + " * 2_000_000 + "1" + ")" * 2_000_000),
    "an expression that backtracks": _JS.format('/^(a+)+$/.test("a".repeat(60) + "b")'),
    "an answer that is another each time": _JS.format(
        "let n = 0; return { valueOf: () => n++, [Symbol.toPrimitive]: () => n++ }"
    ),
}

COMPILED = {
    f"{language}: {name}": (language, source)
    for language, attacks in (
        ("cpp", _CPP_ATTACKS),
        ("java", _JAVA_ATTACKS),
        ("go", _GO_ATTACKS),
        ("kotlin", _KOTLIN_ATTACKS),
        ("javascript", _JAVASCRIPT_ATTACKS),
    )
    for name, source in attacks.items()
}
