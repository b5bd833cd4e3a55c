package sidechannel

import (
	"math/rand/v2"
	"net"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Ports are chosen below those that Linux (from 32768) and macOS (from 49152) give
// to programs that ask for any: between the moment in which a port is found free
// and the one in which rank 0's program binds it, no such program gets it.
const (
	firstPort = 20000
	lastPort  = 32000
	portTries = 256
)

// choosePort finds a port of the loopback that nobody has and listens there, which
// proves it.
func (c *Channels) choosePort() (port int, l net.Listener, err error) {
	for range portTries {
		port = firstPort + rand.IntN(lastPort-firstPort)
		if !c.cfg.Take(port) {
			continue
		}
		if l, err = c.cfg.Machine.Listen(port); err == nil {
			return port, l, nil
		}
		c.cfg.Return(port)
	}
	return 0, nil, api.Errorf(api.ReasonPortTaken, "127.0.0.1", "No port from %d to %d is free on the loopback%s.", firstPort, lastPort, native.Said(err)).From(err)
}
