// Package measure times a thing that can be done again and again: it warms up
// until the speed settles, then takes the best of several runs.
package measure
