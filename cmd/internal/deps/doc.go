// Package deps is `make deps`: what fetches MLX, and the tools that a machine
// lacks, from the wheels pinned in pins.txt. deps.sh finds a Python, deps.py
// does the work; here are their tests.
package deps
