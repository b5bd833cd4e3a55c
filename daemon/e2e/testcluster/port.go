package testcluster

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
)

// Listen holds a port of 127.0.0.1 that a program is to take by its number when the
// listener is closed. It is none of those that systems give to connections, from
// 32768 and from 49152, so that none of those takes it meanwhile.
func Listen() (net.Listener, error) {
	const first, last, tries = 15000, 32000, 100
	var listener net.Listener
	var err error
	for range tries {
		port := uint16(first + rand.IntN(last-first))
		if listener, err = net.Listen("tcp4", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port).String()); err == nil {
			break
		}
	}
	return listener, err
}

// Ring writes the hostfile of a ring on loopback into a folder. The ports are free
// now; MLX takes them by number.
func Ring(folder string, ranks int) (path string, err error) {
	var hosts [][]string
	for range ranks {
		listener, err := Listen()
		if err != nil {
			return "", err
		}
		defer listener.Close() // held until each rank has its own
		hosts = append(hosts, []string{listener.Addr().String()})
	}
	text, err := json.Marshal(hosts)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(folder, "hosts-*.json")
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	return file.Name(), errors.Join(err, file.Chmod(0o644), file.Close())
}
