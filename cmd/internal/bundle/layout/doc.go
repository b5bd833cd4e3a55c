// Package layout says what lies where in Fulmen.app and in what is made of it,
// and puts the app together from programs that are built.
package layout
