package procsockets

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
	"github.com/prometheus/procfs"
)

// What the kernel answers and what its table holds is the same.
func TestAnswersAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	port := listen(t)
	asked, err := askListening(port)
	is.NoErr(err)
	var found []row
	for range 10 { // other sockets that come and go can hide one
		if found, err = read(func(state, local uint64) bool { return state == tcpListen && local == uint64(port) }); len(found) > 0 {
			break
		}
	}
	is.NoErr(err)
	is.Equal(len(asked), 1)
	is.True(asked[0].backlog > 0)
	asked[0].backlog = 0 // which the table does not have
	is.Equal(asked, found)
}

// What /proc/net/tcp and tcp6 look like on a little-endian machine.
const (
	head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	tcp  = head +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0\n" +
		"   1: 0100007F:1F91 0200007F:C3D2 01 00000000:00000009 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1\n"
	tcp6 = head +
		"   0: 00000000000000000000000001000000:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0000000000000000 100 0 0 10 0\n" +
		"   1: 0000000000000000FFFF00000100007F:1F93 0000000000000000FFFF00000100007F:1F94 01 00000000:00000000 00:00000000 00000000  1000        0 4714 1 0000000000000000 20 4 30 10 -1\n"
)

func TestSocketsAreReadFromTheTable(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	is.NoErr(os.Mkdir(filepath.Join(folder, "net"), 0o700))
	is.NoErr(os.WriteFile(filepath.Join(folder, "net", "tcp"), []byte(tcp), 0o600))
	proc, err := procfs.NewFS(folder)
	is.NoErr(err)
	all := func(uint64, uint64) bool { return true }
	rows, err := readFrom(proc, all)
	is.NoErr(err) // a kernel without IPv6
	is.Equal(len(rows), 2)

	is.NoErr(os.WriteFile(filepath.Join(folder, "net", "tcp6"), []byte(tcp6), 0o600))
	at := netip.MustParseAddrPort
	rows, err = readFrom(proc, all)
	is.NoErr(err)
	is.Equal(rows, []row{
		{local: at("127.0.0.1:8080"), remote: at("0.0.0.0:0"), listens: true, waiting: 3, inode: "4711", uid: 1000},
		{local: at("127.0.0.1:8081"), remote: at("127.0.0.2:50130"), inode: "4712", uid: 1000},
		{local: at("[::1]:8082"), remote: at("[::]:0"), listens: true, inode: "4713", uid: 1000},
		{local: at("127.0.0.1:8083"), remote: at("127.0.0.1:8084"), inode: "4714", uid: 1000},
	})
	rows, err = readFrom(proc, func(state, port uint64) bool { return state == tcpListen && port == 8082 })
	is.NoErr(err)
	is.Equal(len(rows), 1)
}

func FuzzDiag(f *testing.F) {
	f.Add([]byte{})
	f.Add(append([]byte{2, tcpListen}, make([]byte, 70)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseDiagReply(data)
		if err == nil && (!r.local.IsValid() || !r.remote.IsValid() || r.waiting < 0 || r.room() < 0 || r.inode == "") {
			t.Fatalf("%+v", r)
		}
	})
}
