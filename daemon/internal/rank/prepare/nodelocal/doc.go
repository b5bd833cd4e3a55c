// Package nodelocal holds the rules of a rank's environment variables: which of
// them the node decides, and how a Python environment is switched on. It is pure.
package nodelocal
