package inventory

import (
	"path"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestNames(t *testing.T) {
	is := is.New(t)
	for folder, want := range map[string]string{
		"models--gpt2": "gpt2", "models--org--a-b.c_d": "org/a-b.c_d", "models--org--": "", "models--": "", "models--a--b--c": "", "datasets--a--b": "",
		"models--..--b": "", "models--a--.b": "", "models--a\x1b--b": "", "models--a/b": "",
	} {
		got, ok := repository(folder)
		is.Equal(ok, want != "")
		if ok {
			is.Equal(got, want)
		}
	}
	for _, name := range []string{"", ".", "..", "../a", "/a", "a/../b", "a//b", "a\x00", "a\n", `a\b`, "\xff", strings.Repeat("a", maxPath+1)} {
		is.True(!isName(name))
	}
	is.True(isName("1_Pooling/config.json"))
}

// FuzzBlobOf: whatever a link says, it leads into the repository's own blobs.
func FuzzBlobOf(f *testing.F) {
	f.Add("snapshots/0123/config.json", "../../blobs/abc")
	f.Add("snapshots/0123/a/b", "../../../blobs/../blobs/abc")
	f.Fuzz(func(t *testing.T, at, link string) {
		if !isName(at) {
			return
		}
		blob, ok := blobOf(at, link)
		if ok && (path.Join(path.Dir(at), link) != "blobs/"+blob || strings.Contains(blob, "/") || blob == "..") {
			t.Fatalf("%q at %q leads to %q", link, at, blob)
		}
	})
}

// FuzzFiles: what files say is refused, or can be shown and names nothing elsewhere.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(config))
	f.Add([]byte(`{"metadata":{"total_size":1e400},"weight_map":{"a":"../b","c":"d"}}`))
	f.Add([]byte(`{"config":{"digest":"sha256:../x"},"layers":[]}`))
	f.Add([]byte(`{"model_family":"llama","file_type":"\u001b"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		check := func(words ...string) {
			for _, w := range words {
				if w != "" && !isName(w) {
					t.Fatalf("%q", w)
				}
			}
		}
		for _, parse := range []func([]byte) (description, error){parseConfig, parseOllama} {
			if d, err := parse(data); err == nil {
				check(d.architecture, d.modelType)
				if q := d.quantization; q != nil {
					check(q.Mode)
					if q.Bits < 0 || q.GroupSize < 0 {
						t.Fatalf("%+v", q)
					}
				}
			}
		}
		if x, err := parseIndex(data); err == nil {
			check(x.files...)
			if x.size < 0 || x.parameters < 0 || len(x.files)+len(x.refused) == 0 {
				t.Fatalf("%+v", x)
			}
		}
		if layers, err := parseManifest(data); err == nil {
			for _, l := range layers {
				if len(l.hash()) != 64 || l.Size < 0 {
					t.Fatalf("%+v", l)
				}
			}
		}
		if revision, err := parseRef(data); err == nil {
			check(revision)
		}
	})
}
