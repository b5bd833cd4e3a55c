//go:build cgo && linux && darwinsim

package simmac_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

// TestConformanceScripts plays every script through the C files.
func TestConformanceScripts(t *testing.T) {
	skipped := nativetest.RunScripts(t, func(t *testing.T, s nativetest.Script) {
		clean(t)
		s.Run(t, newMachines(t, s.Cluster))
	})
	is.New(t).Equal(len(skipped), 0)
}

func TestConform(t *testing.T) {
	clean(t)
	nativetest.Conform(t, func(t *testing.T) native.Platform {
		d := newMachines(t, pair(t))
		do(t, d, "plug A.tb2 B.tb1 80G")
		return d.platforms["A"]
	})
}
