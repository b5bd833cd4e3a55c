package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestRemoveKeepsWhatOthersShare: of two revisions one goes with what it has alone, then the
// other with the whole repository.
func TestRemoveKeepsWhatOthersShare(t *testing.T) {
	is := is.New(t)
	home := t.TempDir()
	repository := filepath.Join(home, "hf/hub/models--org--name")
	write := func(at, text string) {
		at = filepath.Join(repository, at)
		is.NoErr(os.MkdirAll(filepath.Dir(at), 0o755))
		is.NoErr(os.WriteFile(at, []byte(text), 0o644))
	}
	link := func(revision, name, blob string) {
		at := filepath.Join(repository, "snapshots", revision, name)
		is.NoErr(os.MkdirAll(filepath.Dir(at), 0o755))
		is.NoErr(os.Symlink("../../blobs/"+blob, at))
	}
	shared, old, next := strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64)
	write("blobs/"+shared, "12345")
	write("blobs/"+old, "123")
	write("blobs/"+next, "1234567")
	write("blobs/"+strings.Repeat("d", 64)+".incomplete", "12")
	write("refs/main", "two")
	write("refs/pr/1", "one")
	for revision, own := range map[string]string{"one": old, "two": next} {
		link(revision, "model.gguf", shared)
		link(revision, "other.gguf", own)
		link(revision, "again.gguf", own) // counts once
	}
	secret := filepath.Join(home, "secret")
	is.NoErr(os.WriteFile(secret, []byte("x"), 0o600))
	is.NoErr(os.Symlink(secret, filepath.Join(repository, "snapshots", "one", "leak")))
	i := opened(t, Places{Home: home, HFHome: filepath.Join(home, "hf")})
	there := func(at string) bool {
		_, err := os.Lstat(filepath.Join(repository, at))
		return err == nil
	}

	r, err := i.Remove(api.ModelSelect{Model: "org/name", Revision: "one"}, true)
	is.NoErr(err)
	is.Equal(r.FreedBytes, int64(3))
	is.True(there("blobs/" + old))
	cache, err := os.OpenRoot(filepath.Join(home, "hf/hub"))
	is.NoErr(err)
	unlock, err := Lock(cache, "org/name")
	is.NoErr(err)
	_, err = i.Remove(api.ModelSelect{Model: "org/name", Revision: "one"}, false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonModelCopying)
	unlock()
	_, err = i.Remove(api.ModelSelect{Model: "org/name", Revision: "one"}, false)
	is.NoErr(err)
	is.True(!there("snapshots/one") && !there("blobs/"+old) && !there("refs/pr/1"))
	is.True(there("snapshots/two/model.gguf") && there("blobs/"+shared) && there("refs/main"))

	r, err = i.Remove(api.ModelSelect{Model: "org/name"}, false)
	is.NoErr(err)
	is.Equal(r.FreedBytes, int64(5+7+2))
	is.True(!there("."))
	_, err = os.Stat(secret)
	is.NoErr(err)
	is.Equal(len(i.List().Models), 0)
}

// TestOthersFilesAreNotRemoved: what another program manages is left to it.
func TestOthersFilesAreNotRemoved(t *testing.T) {
	is := is.New(t)
	home := t.TempDir()
	folder := filepath.Join(home, "mine")
	is.NoErr(os.MkdirAll(folder, 0o755))
	is.NoErr(os.WriteFile(filepath.Join(folder, "model.gguf"), []byte("1234"), 0o644))
	i := opened(t, Places{Home: home, Folders: []string{folder}})
	_, err := i.Remove(api.ModelSelect{Model: folder}, false)
	is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue)
	_, err = os.Stat(filepath.Join(folder, "model.gguf"))
	is.NoErr(err)
	is.Equal(whyNotRemoved("x", os.ErrPermission).Data.Reason, api.ReasonPermissionDenied)
}
