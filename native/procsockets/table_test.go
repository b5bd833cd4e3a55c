package procsockets

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"
)

// table is what /proc/net/tcp and tcp6 look like on a little-endian machine.
const table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
	"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0\n" +
	"   1: 0100007F:1F91 0200007F:C3D2 01 00000000:00000009 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1\n" +
	"   0: 00000000000000000000000001000000:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0000000000000000 100 0 0 10 0\n" +
	"   1: 0000000000000000FFFF00000100007F:1F93 0000000000000000FFFF00000100007F:1F94 01 00000000:00000000 00:00000000 00000000  1000        0 4714 1 0000000000000000 20 4 30 10 -1\n" +
	"   9: 0100007F:1F99 0100007F 01 0:0 0 0 0 0 1\n"

func all([]byte, []byte) bool { return true }

func TestSocketsAreReadFromTheTable(t *testing.T) {
	is := is.New(t)
	at := netip.MustParseAddrPort
	is.Equal(parseTable([]byte(table), all), []row{
		{local: at("127.0.0.1:8080"), remote: at("0.0.0.0:0"), listens: true, waiting: 3, inode: "4711", uid: 1000},
		{local: at("127.0.0.1:8081"), remote: at("127.0.0.2:50130"), inode: "4712", uid: 1000},
		{local: at("[::1]:8082"), remote: at("[::]:0"), listens: true, inode: "4713", uid: 1000},
		{local: at("127.0.0.1:8083"), remote: at("127.0.0.1:8084"), inode: "4714", uid: 1000},
	})
	is.Equal(len(parseTable([]byte(table), func(state, port []byte) bool { return string(state) == stateListen && string(port) == "1F92" })), 1)
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
		for _, r := range parseTable(text, all) {
			if !r.local.IsValid() || !r.remote.IsValid() || r.waiting < 0 || r.inode == "" {
				t.Fatalf("%+v", r)
			}
		}
		inGroup(text, 11)
	})
}
