"""A canvas with masked pixels: find out how a picture is made, and paint what is missing, pixel by pixel."""
