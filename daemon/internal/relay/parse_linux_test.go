package relay

import (
	"maps"
	"testing"

	"github.com/matryer/is"
)

// table is what /proc/net/tcp6 and /proc/net/tcp look like.
const table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0\n" +
	"   1: 0100007F:1F91 0100007F:C3D2 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1\n" +
	"   0: 00000000000000000000000001000000:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0000000000000000 100 0 0 10 0\n"

func TestListenersAreFoundInTheTable(t *testing.T) {
	is := is.New(t)
	is.True(maps.Equal(listeners([]byte(table)), map[string]int{"4711": 8080, "4713": 8082}))
}

func TestAProcessIsInItsGroupAndSession(t *testing.T) {
	is := is.New(t)
	stat := []byte("42 (a ) 9 9 9 (x) S 7 11 13 0 -1 4194304")
	is.True(inGroup(stat, 11))
	is.True(inGroup(stat, 13))
	is.True(!inGroup(stat, 7))
	is.True(!inGroup(stat, 9))
	is.True(!inGroup([]byte("42"), 42))
}

func FuzzProc(f *testing.F) {
	f.Add([]byte(table))
	f.Add([]byte("42 (x) S 7 11 13 0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, port := range listeners(text) {
			if port < 0 || port > 65535 {
				t.Fatal(port)
			}
		}
		inGroup(text, 11)
	})
}
