package layout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/cmd/internal/bundle/layout"
)

func drawn(side int) ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "..", "..", "..", "assets", "icons", fmt.Sprintf("app-%d.png", side)))
}

func TestMake(t *testing.T) {
	is := is.New(t)
	file, err := layout.MakeIcon(drawn)
	is.NoErr(err)
	kinds, err := layout.IconKinds(file)
	is.NoErr(err)
	is.Equal(kinds, map[string]int{
		"icp4": 16, "icp5": 32, "ic07": 128, "ic08": 256, "ic09": 512,
		"ic11": 32, "ic12": 64, "ic13": 256, "ic14": 512, "ic10": 1024,
	})
	want := map[int]bool{}
	for _, side := range kinds {
		want[side] = true
	}
	is.Equal(len(want), len(layout.IconSides()))
	for _, side := range layout.IconSides() {
		is.True(want[side])
	}
}

func TestPicturesOfAnotherSizeAreRefused(t *testing.T) {
	is := is.New(t)
	_, err := layout.MakeIcon(func(int) ([]byte, error) { return drawn(16) })
	is.True(strings.Contains(err.Error(), "32 pixels has 16 by 16"))
	_, err = layout.MakeIcon(func(int) ([]byte, error) { return nil, os.ErrNotExist })
	is.Equal(err, os.ErrNotExist)
}

func TestWhatIsNoIconIsRefused(t *testing.T) {
	is := is.New(t)
	file, err := layout.MakeIcon(drawn)
	is.NoErr(err)
	for _, bad := range [][]byte{nil, []byte("icns"), file[:len(file)-1], append(append([]byte{}, "icns\x00\x00\x00\x0c"...), "none"...)} {
		_, err := layout.IconKinds(bad)
		is.True(err != nil)
	}
}
