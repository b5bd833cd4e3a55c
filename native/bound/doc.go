// Package bound opens TCP sockets that are bound to a network interface: on
// Linux by SO_BINDTODEVICE, which needs no privilege since Linux 5.7, on macOS
// by IP_BOUND_IF and IPV6_BOUND_IF. It is the [native.Sockets] of both systems.
//
// On macOS the option decides by which interface is sent. It does not decide
// which of several listeners gets a connection: an exact local address does.
//
// A dead path is noticed by the kernel: keepalives while idle, and a limit on
// how long sent data may stay unacknowledged, so that no process has to wake up
// to ask.
package bound
