package server

import (
	"bytes"
	"io/fs"
	"net/http"
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

// serveFile serves the page or one of its assets. There are no listings, no
// redirects and no guessing: a name is a file, or is not there.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if r.URL.Path == api.PathDashboard {
		name = index
	}
	content, err := s.readAsset(name)
	if err != nil {
		s.refuse(w, notThere(r))
		return
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
