package rules

import (
	"testing"

	"github.com/matryer/is"
)

func TestWhatNeedsCgoIsLeftToItsPlatform(t *testing.T) {
	is := is.New(t)
	names := withoutCgo(graph(`
		fulmen/mlxbridge: C
		fulmen/cmd/fulmen-rank: fulmen/cmd/fulmen-rank/internal/gpu
		fulmen/cmd/fulmen-rank/internal/gpu: fulmen/mlxbridge
		fulmen/native: os
		fulmen/native/darwin: fulmen/native C
		fulmen/daemon: fulmen/native
		github.com/x/y: os`))
	is.Equal(names, []string{"fulmen/daemon", "fulmen/native"})
}
