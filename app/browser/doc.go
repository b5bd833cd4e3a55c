// Package browser opens an address in the person's browser in a way that shows it
// to nobody else: an argument of a program can be read by every account of the
// machine, and the address of the dashboard holds a secret.
package browser
