// Programs of packages of npm: `client_programs.mjs PACKAGE CELL URL TOKEN` prints what the package made of the answer.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import { Output, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [name, cell, url, token] = process.argv.slice(2);
const question = "How is the weather in Oslo?";
const data =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const forecast = z.object({ city: z.string(), degrees: z.number().int() });
const city = z.object({ city: z.string() });

const models = {
  "ai-openai": () => createOpenAI({ baseURL: `${url}/v1`, apiKey: token }).chat("m"),
  "ai-openai-responses": () => createOpenAI({ baseURL: `${url}/v1`, apiKey: token }).responses("m"),
  "ai-anthropic": () => createAnthropic({ baseURL: `${url}/v1`, apiKey: token })("claude-sonnet-4-5"),
  "ai-google": () => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: token })("gemini-2.5-flash"),
};

async function vercel(model) {
  const given = { model, maxRetries: 0, prompt: question };
  switch (cell) {
    case "streamed": {
      let text = "";
      for await (const piece of streamText(given).textStream) text += piece;
      return text;
    }
    case "structured":
      return (await generateText({ ...given, output: Output.object({ schema: forecast }) })).output;
    case "images": {
      const content = [{ type: "text", text: question }, { type: "file", data, mediaType: "image/png" }];
      return (await generateText({ model, maxRetries: 0, messages: [{ role: "user", content }] })).text;
    }
    case "tools": {
      const weather = tool({ inputSchema: city, execute: async ({ city }) => `cold in ${city}` });
      return (await generateText({ ...given, tools: { weather }, stopWhen: stepCountIs(3) })).text;
    }
    default:
      return (await generateText(given)).text;
  }
}

async function google() {
  const client = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: url } }).models;
  const given = { model: "m", contents: [{ role: "user", parts: [{ text: question }] }] };
  switch (cell) {
    case "streamed": {
      let text = "";
      for await (const piece of await client.generateContentStream(given)) text += piece.text ?? "";
      return text;
    }
    case "structured": {
      const config = { responseMimeType: "application/json", responseJsonSchema: z.toJSONSchema(forecast) };
      return JSON.parse((await client.generateContent({ ...given, config })).text);
    }
    case "images":
      given.contents[0].parts.push({ inlineData: { data, mimeType: "image/png" } });
      break;
    case "tools": {
      const declared = { name: "weather", parametersJsonSchema: z.toJSONSchema(city) };
      given.config = { tools: [{ functionDeclarations: [declared] }] };
      const first = await client.generateContent(given);
      const parts = first.functionCalls.map((call) => ({
        functionResponse: { id: call.id, name: call.name, response: { output: `cold in ${call.args.city}` } },
      }));
      given.contents.push(first.candidates[0].content, { role: "user", parts });
    }
  }
  return (await client.generateContent(given)).text;
}

console.log(JSON.stringify(await (name in models ? vercel(models[name]()) : google())));
