package systemprofiler_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/systemprofiler"
)

// recordings is the folder of what real Macs said.
func recordings(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FULMEN_FIXTURES")
	if folder == "" {
		t.Skip("FULMEN_FIXTURES names no folder with recordings of real Macs")
	}
	return filepath.Join(folder, "sp_thunderbolt")
}

// Every recording is read without a remark: nothing in it is unknown to us.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings(t), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			is := is.New(t)
			result := parse(t, file)
			is.Equal(result.Notes, nil)
			for _, port := range result.Thunderbolt.Ports {
				is.True(port.DomainUUID != "")
				is.True(port.Status != "")
				is.True(port.Negotiated != nil)
				if port.Status == native.PortEmpty {
					is.Equal(port.Capability, native.TB5)
					is.Equal(port.Negotiated.State, native.LinkDown)
				}
			}
		})
	}
	texts, err := filepath.Glob(filepath.Join(recordings(t), "*.txt"))
	if err != nil || len(texts) == 0 {
		t.Fatalf("no recordings as text: %v", err)
	}
	is := is.New(t)
	data, err := os.ReadFile(texts[0])
	is.NoErr(err)
	_, err = systemprofiler.Parse(data)
	is.True(err != nil)
}

// Two Macs joined by a cable, each recorded: the ends name each other.
func TestRecordingsOfBothEnds(t *testing.T) {
	is := is.New(t)
	folder := recordings(t)
	studio := parse(t, filepath.Join(folder, "m3ultra_studio_peer_m5max_plus_tb5drive.json")).Thunderbolt
	book := parse(t, filepath.Join(folder, "m5max_mbp_peer_m3ultra_rdma_on_local.json")).Thunderbolt
	is.Equal(len(studio.Ports), 6)
	is.Equal(len(book.Ports), 3)
	here, _ := studio.Port(2)
	there, _ := book.Port(1)
	is.Equal(len(here.Peers), 1)
	is.Equal(len(there.Peers), 1)
	is.Equal(here.Peers[0].DomainUUID, there.DomainUUID)
	is.Equal(there.Peers[0].DomainUUID, here.DomainUUID)
	is.Equal(here.Peers[0].Name, "Mac17,7")
	is.Equal(there.Peers[0].Name, "Mac15,14")

	// The MacBook had RDMA on, the Studio not: each sees what the other offers.
	offered, known := here.Peers[0].Offers(native.ProtocolRDMA)
	is.True(offered)
	is.True(known)
	offered, known = there.Peers[0].Offers(native.ProtocolRDMA)
	is.True(!offered)
	is.True(known)

	is.Equal(here.Peers[0].Negotiated.Speed().String(), "80 Gb/s")
	is.Equal(here.Capability, native.TB5)

	drive, _ := studio.Port(4)
	is.Equal(drive.Status, native.PortDevice)
	is.Equal(drive.Hubs[0].Route, "0x1")
	is.Equal(drive.Hubs[0].Vendor, "Other World Computing")
	is.Equal(drive.Hubs[0].Negotiated.Generation, native.Gen4)
}

// An old drive: 40 Gb/s by two lanes, and the port's limit is not told then.
func TestRecordingOfAThunderbolt3Drive(t *testing.T) {
	is := is.New(t)
	port, _ := parse(t, filepath.Join(recordings(t), "m5max_mbp_macos27_tb3drive_plus_peer_rdma_on_local.json")).Thunderbolt.Port(3)
	is.Equal(port.Status, native.PortDevice)
	is.Equal(port.Negotiated.Generation, native.Gen3)
	is.Equal(port.Negotiated.TxLanes, 2)
	is.Equal(port.Negotiated.TxBitsPerS, int64(40e9))
	is.Equal(port.Capability, native.ThunderboltVersion(""))
	is.Equal(port.Unknown["capability"].Key(), native.ReasonNoOS.Key())
}
