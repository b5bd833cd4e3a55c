package inventory

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

const (
	hubPrefix = "models--"
	// maxDepth is how deep folders are looked into, maxEntries how many entries of them.
	maxDepth   = 8
	maxEntries = 200_000
)

// scan reads one entry of a root. What it reads of folders it follows first: what
// changes meanwhile is noticed.
type scan struct {
	root    *os.Root
	base    string // the root's path
	source  api.ModelSource
	follow  func(folder string)
	models  []found
	refused []string
	entries int
	err     error // the first that kept it from reading a part
}

// list is what is in a folder below the root; nothing where it is not there.
func (s *scan) list(folder string) []fs.DirEntry {
	s.follow(filepath.Join(s.base, folder))
	f, err := s.root.Open(folder)
	if err != nil {
		s.fail(err)
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries - s.entries + 1)
	s.entries += len(entries)
	if err != nil && len(entries) == 0 && !isEnd(err) {
		s.fail(err)
	}
	if s.entries > maxEntries {
		s.err = cmp.Or(s.err, error(api.Errorf(api.ReasonBadValue, filepath.Join(s.base, folder), "the folder has more than %d entries", maxEntries)))
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries
}

func (s *scan) fail(err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		s.err = cmp.Or(s.err, err)
	}
}

func (s *scan) refuse(at string) { s.refused = append(s.refused, at) }

// walk gives the files below a folder, with paths below it; links are given to link, with
// what they say.
func (s *scan) walk(folder, below string, depth int, take func(name, at string, info fs.FileInfo), link func(name, at, target string)) {
	entries := s.list(folder)
	if len(entries) == 0 {
		return
	}
	here, err := s.root.OpenRoot(folder) // links are read from here: a long path takes many steps
	if err != nil {
		s.fail(err)
		return
	}
	defer here.Close()
	for _, e := range entries {
		at, name := path.Join(folder, e.Name()), path.Join(below, e.Name())
		switch {
		case !isName(e.Name()):
			s.refuse(at)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := here.Readlink(e.Name())
			if err != nil {
				target = "" // which leads nowhere
			}
			link(name, at, target)
		case e.IsDir() && depth < maxDepth:
			s.walk(at, name, depth+1, take, link)
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil {
				take(name, at, info)
			}
		default:
			s.refuse(at)
		}
	}
}

// hub reads a repository of Hugging Face's cache.
func (s *scan) hub(folder string) {
	name, ok := repository(folder)
	if !ok {
		s.refuse(folder)
		return
	}
	s.list(folder) // which is followed: blobs and snapshots may come later
	refs := map[string][]string{}
	s.walk(path.Join(folder, "refs"), "", 0, func(ref, at string, _ fs.FileInfo) {
		if data, err := read(s.root, at, maxRef); err == nil {
			if revision, err := parseRef(data); err == nil {
				refs[revision] = append(refs[revision], ref)
			}
		}
	}, func(_, at, _ string) { s.refuse(at) })
	blobs, partial := map[string]fs.FileInfo{}, int64(0)
	for _, e := range s.list(path.Join(folder, "blobs")) {
		info, err := e.Info()
		switch {
		case err != nil || !e.Type().IsRegular():
		case strings.HasSuffix(e.Name(), ".incomplete"):
			partial += info.Size()
		default:
			blobs[e.Name()] = info
		}
	}
	for _, e := range s.list(path.Join(folder, "snapshots")) {
		at := path.Join(folder, "snapshots", e.Name())
		if !e.IsDir() || !isWord(e.Name()) {
			s.refuse(at)
			continue
		}
		m := found{Model: api.Model{Model: name, Revision: e.Name(), Refs: refs[e.Name()], Source: api.ModelHub, Path: filepath.Join(s.base, at), PartialBytes: partial}}
		s.walk(at, "", 0, func(name, at string, info fs.FileInfo) { m.take(name, at, info) }, func(name, at, target string) {
			blob, ok := blobOf(strings.TrimPrefix(at, folder+"/"), target)
			if !ok {
				s.refuse(at)
				m.lack(name)
				return
			}
			info, ok := blobs[blob]
			if !ok {
				m.lack(name)
				return
			}
			f := file{path: name, at: path.Join(folder, "blobs", blob), size: info.Size(), time: info.ModTime()}
			if IsHash(blob) {
				f.hash = blob
			}
			m.files = append(m.files, f)
		})
		s.add(&m)
	}
}

func (m *found) take(name, at string, info fs.FileInfo) {
	m.files = append(m.files, file{path: name, at: at, size: info.Size(), time: info.ModTime()})
}

// add describes a model and keeps it.
func (s *scan) add(m *found) {
	m.describe(s.root)
	s.refused = append(s.refused, m.refused...)
	s.models = append(s.models, *m)
}

// plain finds models in a folder: one that has a configuration or weights is a model
// with all below it.
func (s *scan) plain(folder string, depth int) {
	entries := s.list(folder)
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Type().IsRegular() && isModelFile(e.Name()) }) {
		m := found{Model: api.Model{Model: filepath.ToSlash(folder), Source: s.source, Path: filepath.Join(s.base, folder)}}
		if folder == "." {
			m.Model.Model = filepath.Base(s.base)
		}
		s.walk(folder, "", 0, func(name, at string, info fs.FileInfo) { m.take(name, at, info) }, func(name, at, _ string) {
			s.refuse(at)
			m.lack(name)
		})
		s.add(&m)
		return
	}
	for _, e := range entries {
		at := path.Join(folder, e.Name())
		switch {
		case folder == ".": // entries of the root are scanned one by one
		case strings.HasPrefix(e.Name(), "."):
		case !isName(e.Name()) || e.Type()&fs.ModeSymlink != 0:
			s.refuse(at)
		case e.IsDir() && depth < maxDepth:
			s.plain(at, depth+1)
		}
	}
}

func isModelFile(name string) bool {
	return name == "config.json" || name == "model_index.json" || path.Ext(name) == ".safetensors" || path.Ext(name) == ".gguf"
}

// ollama reads all of Ollama's manifests: models share blobs.
func (s *scan) ollama() {
	s.list("blobs")
	s.walk("manifests", "", 0, func(name, at string, info fs.FileInfo) {
		data, err := read(s.root, at, maxManifest)
		layers := []layer(nil)
		if err == nil {
			layers, err = parseManifest(data)
		}
		m := found{Model: api.Model{Model: ollamaName(name), Source: api.ModelOllama, Path: filepath.Join(s.base, at), ModifiedAt: api.TimeOf(info.ModTime())}}
		if err != nil {
			m.unknown("complete", whyUnread(err))
		}
		var weights int64
		for i, l := range layers {
			f := file{path: "blobs/sha256-" + l.hash(), at: "blobs/sha256-" + l.hash(), hash: l.hash()}
			blob, err := s.root.Lstat(f.at)
			if err != nil || !blob.Mode().IsRegular() || blob.Size() != l.Size {
				m.lack(f.path)
				continue
			}
			f.size, f.time = blob.Size(), blob.ModTime()
			m.files = append(m.files, f)
			m.SizeBytes += f.size
			if strings.HasSuffix(l.Type, ".model") {
				weights += l.Size
			}
			if i == 0 {
				if data, err := read(s.root, f.at, maxConfig); err == nil {
					d, err := parseOllama(data)
					m.ModelType, m.Quantization = d.modelType, d.quantization
					if err != nil {
						m.unknown("model_type", whyUnread(err))
					}
				}
			}
		}
		m.FileCount = len(m.files)
		if weights > 0 {
			m.WeightsBytes, m.WeightsFrom = &weights, api.WeightsFiles
		}
		m.finish()
		s.models = append(s.models, m)
	}, func(_, at, _ string) { s.refuse(at) })
}

// ollamaName is how Ollama calls the model of a manifest: registry, owner and library are
// left out where they are the usual ones, and the tag is the last element.
func ollamaName(manifest string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(manifest, "registry.ollama.ai/"), "library/")
	return path.Dir(name) + ":" + path.Base(name)
}
