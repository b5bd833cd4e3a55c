package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
)

// What is read of files that anybody may have written is bounded.
const (
	maxConfig   = 4 << 20
	maxIndex    = 64 << 20
	maxRef      = 256
	maxManifest = 1 << 20
	maxPath     = 1024
	maxWord     = 128
)

// errForm is matched where a file is not what it should be.
var errForm = errors.New("not in the expected form")

var (
	hexWord   = regexp.MustCompile(`^[0-9a-f]+$`)
	shardName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})(\.[a-z]+)$`)
	repoPart  = regexp.MustCompile(`^[\pL\pN_][\pL\pN._-]*$`)
)

// isName reports whether a path is one below a folder that can be shown.
func isName(name string) bool {
	return name != "" && name != "." && len(name) <= maxPath && utf8.ValidString(name) && filepath.IsLocal(name) && path.Clean(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' })
}

// isWord reports whether a text of a file can be shown as a word.
func isWord(s string) bool { return isName(s) && len(s) <= maxWord }

// repository is the name of a repository by that of its folder in Hugging Face's cache.
func repository(folder string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(folder, hubPrefix)
	parts := strings.Split(rest, "--")
	if !ok || len(parts) > 2 || len(folder) > maxPath || slices.ContainsFunc(parts, func(p string) bool { return !repoPart.MatchString(p) }) {
		return "", false
	}
	return strings.Join(parts, "/"), true
}

// blobOf is the blob to which a link at a path of a repository leads; it must be one of
// that repository.
func blobOf(at, link string) (blob string, ok bool) {
	if path.IsAbs(link) || len(link) > maxPath {
		return "", false
	}
	// A link goes up from where it lies, and never beyond the repository.
	folder, blob := path.Split(path.Join("/", path.Dir(at), link))
	return blob, folder == "/blobs/" && isName(blob) && strings.Count(link, "../") == strings.Count(at, "/")
}

// parseRef reads the file of a branch or tag.
func parseRef(data []byte) (revision string, err error) {
	revision = strings.TrimSpace(string(data))
	if !isWord(revision) || strings.Contains(revision, "/") {
		return "", errForm
	}
	return revision, nil
}

// description is what config.json states of a model.
type description struct {
	architecture, modelType string
	quantization            *api.Quantization
}

// parseConfig reads a config.json.
func parseConfig(data []byte) (d description, err error) {
	var raw struct {
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
		Quantization  stored   `json:"quantization"`        // as MLX writes it
		Config        stored   `json:"quantization_config"` // as transformers does
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return d, fmt.Errorf("%w: %w", errForm, err)
	}
	if len(raw.Architectures) > 0 && isWord(raw.Architectures[0]) {
		d.architecture = raw.Architectures[0]
	}
	if isWord(raw.ModelType) {
		d.modelType = raw.ModelType
	}
	for _, s := range []stored{raw.Quantization, raw.Config} {
		if d.quantization == nil {
			d.quantization = s.stated()
		}
	}
	return d, nil
}

// stored is how a config.json says that weights are quantized. MLX has entries for
// single layers beside these.
type stored struct {
	Bits      int    `json:"bits"`
	GroupSize int    `json:"group_size"`
	Mode      string `json:"mode"`
	Method    string `json:"quant_method"`
}

func (s stored) stated() *api.Quantization {
	q := api.Quantization{Mode: s.Mode}
	if q.Mode == "" {
		q.Mode = s.Method
	}
	if !isWord(q.Mode) {
		q.Mode = ""
	}
	if 0 < s.Bits && s.Bits <= 64 {
		q.Bits = s.Bits
	}
	if 0 < s.GroupSize && s.GroupSize <= 1<<20 {
		q.GroupSize = s.GroupSize
	}
	if q == (api.Quantization{}) {
		return nil
	}
	return &q
}

// weightIndex is what an index of weights states.
type weightIndex struct {
	files      []string // sorted
	refused    []string // names that lead elsewhere
	size       int64    // 0 = not stated
	parameters int64    // 0 = not stated
}

// parseIndex reads a model.safetensors.index.json, whose names are beside it.
func parseIndex(data []byte) (x weightIndex, err error) {
	var raw struct {
		Metadata struct {
			Size       float64 `json:"total_size"`
			Parameters float64 `json:"total_parameters"`
		} `json:"metadata"`
		Weights map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return x, fmt.Errorf("%w: %w", errForm, err)
	}
	if len(raw.Weights) == 0 {
		return x, fmt.Errorf("%w: it names no file", errForm)
	}
	seen := map[string]bool{}
	for _, name := range raw.Weights {
		switch {
		case seen[name]:
		case isName(name):
			x.files = append(x.files, name)
		default:
			x.refused = append(x.refused, name)
		}
		seen[name] = true
	}
	slices.Sort(x.files)
	slices.Sort(x.refused)
	x.size, x.parameters = counted(raw.Metadata.Size), counted(raw.Metadata.Parameters)
	return x, nil
}

// counted is a number that can be a size; 0 where it is none. Some tools write them with
// a fraction.
func counted(n float64) int64 {
	if n < 1 || n > 1<<53 {
		return 0
	}
	return int64(n)
}

// layer is a blob of an Ollama manifest.
type layer struct {
	Type   string `json:"mediaType"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// hash is the layer's SHA-256; empty where the digest is no such.
func (l layer) hash() string {
	hash, ok := strings.CutPrefix(l.Digest, "sha256:")
	if !ok || len(hash) != 64 || !hexWord.MatchString(hash) {
		return ""
	}
	return hash
}

// parseManifest reads a manifest of Ollama: the configuration is the first layer.
func parseManifest(data []byte) ([]layer, error) {
	var raw struct {
		Config layer   `json:"config"`
		Layers []layer `json:"layers"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("%w: %w", errForm, err)
	}
	all := append([]layer{raw.Config}, raw.Layers...)
	for _, l := range all {
		if l.hash() == "" || l.Size < 0 || l.Size > 1<<53 {
			return nil, fmt.Errorf("%w: the digest or size of a layer", errForm)
		}
	}
	return all, nil
}

// parseOllama reads the configuration of one of Ollama's models.
func parseOllama(data []byte) (d description, err error) {
	var raw struct {
		Family string `json:"model_family"`
		Kind   string `json:"file_type"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return d, fmt.Errorf("%w: %w", errForm, err)
	}
	if isWord(raw.Family) {
		d.modelType = raw.Family
	}
	if isWord(raw.Kind) {
		d.quantization = &api.Quantization{Mode: raw.Kind}
	}
	return d, nil
}
