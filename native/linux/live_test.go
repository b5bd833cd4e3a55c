package linux_test

import (
	"runtime"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/linux"
	"fulmen/native/nativetest"
)

func open(t *testing.T) native.Platform {
	is := is.New(t)
	if runtime.GOOS != "linux" {
		t.Skip("this is not Linux")
	}
	p, err := linux.New(linux.Options{})
	is.NoErr(err)
	return p
}

func TestThisMachineConforms(t *testing.T) {
	nativetest.Conform(t, open)
}

// TestThisMachine holds a few facts against other ways to learn them.
func TestThisMachine(t *testing.T) {
	is := is.New(t)
	p := open(t)
	defer p.Close()
	s, err := p.Facts.Snapshot(t.Context(), native.AllAreas()...)
	is.NoErr(err)
	is.Equal(s.Identity.Architecture, runtime.GOARCH)
	is.True(s.Identity.CPUCores != nil && *s.Identity.CPUCores <= runtime.NumCPU()*8)
	is.True(*s.Memory.UsedBytes < *s.Memory.TotalBytes)
	loopback, ok := s.Network.Interface("lo")
	is.True(ok)
	is.Equal(loopback.Type, native.InterfaceLoopback)
	is.True(!s.Identity.BootedAt.After(s.At.Time))
}
