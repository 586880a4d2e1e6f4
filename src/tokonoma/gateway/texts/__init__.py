"""What agents and users read before a call, in the languages of the house. Each file has the same names.

`{name}` becomes the value of an argument, or `{search}` and `{remember}` the way to do it. A line that begins with
`{?x}` is left out unless the caller sees the tool `x` (`module.tool`), or the argument `x` was given.
"""
