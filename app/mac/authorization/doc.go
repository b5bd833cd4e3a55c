//go:build darwin

// Package authorization asks the person at the keyboard of a Mac for a right of
// Authorization Services, and gives the proof that another process takes.
package authorization
