package inventory

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

// maxNamed is how many files are named of those that lack or are refused.
const maxNamed = 20

// file is a file of a model.
type file struct {
	path string // below the model's folder
	at   string // below the root's: a blob, or the file itself
	size int64
	time time.Time
	hash string // what its blob's name says; empty where it says nothing
}

// found is a model as its files are.
type found struct {
	api.Model
	files   []file   // by path
	refused []string // what leads out of the folder
}

// lack notes a file that is not there.
func (m *found) lack(name string) { m.Missing = append(m.Missing, name) }

// unknown says why a field is absent.
func (m *found) unknown(field string, why api.Reason) {
	if m.Unknown == nil {
		m.Unknown = map[string]api.Reason{}
	}
	m.Unknown[field] = why
}

// unread says of fields that an error of reading keeps them from being known.
func (m *found) unread(err error, fields ...string) {
	for _, field := range fields {
		m.unknown(field, whyUnread(err))
	}
}

// whyUnread is the reason of an error of reading.
func whyUnread(err error) api.Reason {
	switch {
	case errors.Is(err, errForm):
		return api.ReasonSourceMalformed
	case errors.Is(err, fs.ErrPermission):
		return api.ReasonPermissionDenied
	}
	return api.ReasonReadFailed
}

// read reads a file below a root that is not larger than a limit.
func read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, size, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, fmt.Errorf("%w: %d bytes", errForm, size)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// open opens a regular file below a root. It does not wait for the other end of what is a pipe.
func open(root *os.Root, name string) (*os.File, int64, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file", errForm)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// describe fills in what a model's files say of it.
func (m *found) describe(root *os.Root) {
	slices.SortFunc(m.files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	byPath := map[string]file{}
	for _, f := range m.files {
		byPath[f.path] = f
		m.SizeBytes += f.size
		if f.time.After(m.ModifiedAt.Time) {
			m.ModifiedAt = api.TimeOf(f.time)
		}
	}
	m.FileCount = len(m.files)
	m.config(root, byPath)
	m.weights(root, byPath)
	m.finish()
}

// finish says whether the model is complete, once all that lacks is known.
func (m *found) finish() {
	slices.Sort(m.Missing)
	m.Missing = slices.Compact(m.Missing)
	m.MissingCount = len(m.Missing)
	m.Missing = m.Missing[:min(len(m.Missing), maxNamed)]
	if _, isOpen := m.Unknown["complete"]; !isOpen {
		complete := m.MissingCount == 0
		m.Complete = &complete
	}
}

func (m *found) config(root *os.Root, files map[string]file) {
	f, ok := files["config.json"]
	if !ok {
		if _, pipeline := files["model_index.json"]; !pipeline && !slices.ContainsFunc(m.files, func(f file) bool { return path.Ext(f.path) == ".gguf" }) {
			m.lack("config.json")
		}
		return
	}
	data, err := read(root, f.at, maxConfig)
	d := description{}
	if err == nil {
		d, err = parseConfig(data)
	}
	if err != nil {
		m.unread(err, "architecture", "complete")
	}
	m.Architecture, m.ModelType, m.Quantization = d.architecture, d.modelType, d.quantization
}

// weights finds how large the tensors are, and which of their files lack.
func (m *found) weights(root *os.Root, files map[string]file) {
	if index, ok := files["model.safetensors.index.json"]; ok {
		data, err := read(root, index.at, maxIndex)
		x := weightIndex{}
		if err == nil {
			x, err = parseIndex(data)
		}
		m.refused = append(m.refused, x.refused...)
		if err == nil && len(x.refused) > 0 {
			err = errForm
		}
		if err != nil {
			m.unread(err, "complete", "weights_bytes")
			return
		}
		for _, name := range x.files {
			if _, ok := files[name]; !ok {
				m.lack(name)
			}
		}
		if x.parameters > 0 {
			m.Parameters = &x.parameters
		}
		if x.size > 0 {
			m.WeightsBytes, m.WeightsFrom = &x.size, api.WeightsIndex
			return
		}
	}
	all, kind := m.weightFiles()
	if len(all) == 0 {
		if len(m.Missing) == 0 {
			m.lack("*.safetensors")
		}
		m.unknown("weights_bytes", api.ReasonSourceGone)
		return
	}
	sets := map[string]bool{}
	for _, f := range all {
		parts := shardName.FindStringSubmatch(f.path)
		if parts == nil {
			sets[f.path] = true
			continue
		}
		sets[parts[1]] = true
		if of, _ := strconv.Atoi(parts[3]); of <= maxShards {
			for i := range of {
				if name := fmt.Sprintf("%s-%05d-of-%s%s", parts[1], i+1, parts[3], parts[4]); files[name].path == "" {
					m.lack(name)
				}
			}
		}
	}
	if kind == ".gguf" && len(sets) == 1 && files["config.json"].path == "" {
		d, err := metadata(root, all[0]) // it has them, also of several
		if err != nil {
			m.unread(err, "complete", "weights_bytes")
			return
		}
		m.ModelType, m.Quantization = d.modelType, d.quantization
	}
	m.WeightsFrom = api.WeightsFiles
	var total int64
	for _, f := range all {
		size := f.size
		if kind == ".safetensors" {
			m.WeightsFrom = api.WeightsHeaders
			var err error
			if size, err = tensors(root, f); err != nil {
				m.unread(err, "complete", "weights_bytes")
				m.WeightsFrom = ""
				return
			}
		}
		total += size
	}
	switch {
	case kind == ".gguf" && len(sets) > 1:
		m.unknown("weights_bytes", api.ReasonSeveralWeights)
		m.WeightsFrom = ""
	case len(m.Missing) > 0:
		m.unknown("weights_bytes", api.ReasonModelIncomplete)
		m.WeightsFrom = ""
	default:
		m.WeightsBytes = &total
	}
}

// maxShards is how many files the weights of one model are in at most.
const maxShards = 4096

// weightFiles are the files with weights of one kind, those of the folder itself where
// it has any.
func (m *found) weightFiles() (all []file, kind string) {
	for _, kind := range []string{".safetensors", ".gguf", ".npz", ".bin"} {
		for _, f := range m.files {
			isWeights := path.Ext(f.path) == kind && (kind != ".bin" || strings.HasPrefix(path.Base(f.path), "pytorch_model"))
			if isWeights {
				all = append(all, f)
			}
		}
		if top := slices.DeleteFunc(slices.Clone(all), func(f file) bool { return strings.Contains(f.path, "/") }); len(top) > 0 {
			all = top
		}
		if len(all) > 0 {
			return all, kind
		}
	}
	return nil, ""
}

// tensors is how many bytes of a safetensors file are tensors: all behind its header,
// which begins with its own length.
func tensors(root *os.Root, f file) (int64, error) {
	opened, size, err := open(root, f.at)
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	var length [8]byte
	if _, err := io.ReadFull(opened, length[:]); err != nil {
		return 0, fmt.Errorf("%w: %w", errForm, err)
	}
	header := binary.LittleEndian.Uint64(length[:])
	if header == 0 || header > uint64(size-8) {
		return 0, fmt.Errorf("%w: a header of %d bytes", errForm, header)
	}
	return size - 8 - int64(header), nil
}

// named are the first names of some, sorted and each once.
func named(all []string) []string {
	set := map[string]bool{}
	for _, name := range all {
		set[strings.ToValidUTF8(name[:min(len(name), maxPath)], "\ufffd")] = true
	}
	sorted := slices.Sorted(maps.Keys(set))
	return sorted[:min(len(sorted), maxNamed)]
}
