package server

import (
	"bytes"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// plainPage is shown where no dashboard was built in.
const plainPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Fulmen</title>
<h1>Fulmen</h1>
<p>The daemon runs. This build has no dashboard; use the command line, <code>fulmen status</code>,
or the API, whose schema is at <a href="` + api.PathSchema + `">` + api.PathSchema + `</a>.</p>
</html>
`

// index is the page's file in the assets.
const index = "index.html"

// compressed is behind the name of a file's compressed form.
const compressed = ".gz"

// named matches files whose name holds a hash of their content: another content
// has another name.
var named = regexp.MustCompile(`-[0-9A-Za-z_-]{8}\.[a-z0-9]+$`)

// serveFile serves the page or one of its assets. There are no listings, no
// redirects and no guessing: a name is a file, or is not there.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if r.URL.Path == api.PathDashboard {
		name = index
	}
	content, err := s.readAsset(name)
	if err != nil || strings.HasSuffix(name, compressed) {
		s.refuse(w, notThere(r))
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	if named.MatchString(name) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	if small, err := s.readAsset(name + compressed); err == nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r) {
			h.Set("Content-Encoding", "gzip")
			content = small
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

func (s *Server) readAsset(name string) ([]byte, error) {
	switch {
	case s.config.Assets != nil && fs.ValidPath(name):
		return fs.ReadFile(s.config.Assets, name)
	case s.config.Assets == nil && name == index:
		return []byte(plainPage), nil
	}
	return nil, fs.ErrNotExist
}

// contentType goes by the name alone. What the system says of names is not asked
// for the kinds that browsers run: some systems call scripts plain text.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		if known := mime.TypeByExtension(ext); known != "" {
			return known
		}
		return "application/octet-stream"
	}
}

// takesGzip reports whether a client reads compressed content.
func takesGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
			if strings.EqualFold(name, "gzip") && !refuses(weight) {
				return true
			}
		}
	}
	return false
}

// refuses reports whether a weight is q=0, in any of its forms.
func refuses(weight string) bool {
	q, found := strings.CutPrefix(strings.TrimSpace(weight), "q=")
	return found && strings.Trim(q, "0.") == "" && strings.HasPrefix(q, "0")
}
