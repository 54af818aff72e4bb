"""A canvas with masked pixels: infer the law of a picture, and paint the missing pixels one by one."""
