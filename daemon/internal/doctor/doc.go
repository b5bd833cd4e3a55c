// Package doctor answers `fulmen doctor` with what only the daemon itself can examine.
// It changes nothing; asked for the hardware, it holds each fact against what the system
// says now.
package doctor
