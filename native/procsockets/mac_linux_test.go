package procsockets_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

// TestWhatAMacTells: the C for macOS, over an imitation of libproc, tells each TCP
// socket with its address and its port as macOS keeps them, in network order.
func TestWhatAMacTells(t *testing.T) {
	is := is.New(t)
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(t.TempDir(), "mac")
	reported, err := exec.CommandContext(t.Context(), compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", "testdata/libproc", "-o", program, "testdata/libproc/main.c").CombinedOutput()
	is.Equal(string(reported), "")
	is.NoErr(err)
	reported, err = exec.CommandContext(t.Context(), program).Output()
	is.NoErr(err)
	is.Equal(string(reported), `1 7 0 sixteen-letters! 501
1 125 [169.254.8.1]:29500 [0.0.0.0]:0
0 0 [fe80::1]:29500 [fe80::2]:50001
2 -1
`)
}
