package ring

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Environment writes a hostfile for MLX's ring into folder, with an address on
// loopback for each of size ranks, and gives each rank's environment.
//
// The ports are free now, but MLX takes them by number when a rank starts, so
// another program may have come first: a start that cannot bind is tried again
// with another call of this.
func Environment(folder string, size int) ([][]string, error) {
	var hosts [][]string
	for range size {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // held until each rank has its own
		hosts = append(hosts, []string{listener.Addr().String()})
	}
	text, err := json.Marshal(hosts)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "hosts.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	environments := make([][]string, size)
	for rank := range size {
		environments[rank] = []string{"MLX_HOSTFILE=" + file, "MLX_RANK=" + strconv.Itoa(rank)}
	}
	return environments, nil
}
