package endpoint

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // the one of the request before
	w = paced{w, control, e.writeWithin}
	l, refused := e.admit(w, r)
	if refused == nil && r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
		allow(w, r)
		return
	}
	var by api.Principal
	if refused == nil {
		by, refused = e.person(l, r)
	}
	if refused != nil {
		refused.write(w)
		return
	}
	name, isOne := strings.CutPrefix(r.URL.Path, pathModels+"/")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == pathModels:
		answer(w, modelList{"list", e.models(by)})
	case r.Method == http.MethodGet && isOne:
		all := e.models(by)
		at := slices.IndexFunc(all, func(m model) bool { return m.ID == name })
		if at < 0 {
			noModel(name).write(w)
			return
		}
		answer(w, all[at])
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/"):
		e.forward(w, r, by)
	default:
		newProblem(http.StatusNotFound, "unknown_url", "There is nothing at "+r.Method+" "+clip(r.URL.Path)+". OpenAI's paths begin with /v1.").write(w)
	}
}

// pathModels lists the models.
const pathModels = "/v1/models"

// modelList and model are as OpenAI's API has them.
type modelList struct {
	Object string  `json:"object"`
	Data   []model `json:"data"`
}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// models are those that somebody may use, each once, by name.
func (e *Endpoint) models(by api.Principal) []model {
	all := []model{}
	for _, s := range e.services(by) {
		if s.state != stopping {
			all = append(all, model{s.model, "model", s.since.Unix(), s.of.String()})
		}
	}
	slices.SortStableFunc(all, func(a, b model) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b model) bool { return a.ID == b.ID })
}

func answer(w http.ResponseWriter, what any) {
	raw, _ := json.Marshal(what) // it holds texts and numbers
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(raw, '\n')) // the client may be gone
}

func noModel(name string) *problem {
	return &problem{status: http.StatusNotFound, code: "model_not_found", param: "model",
		message: "No service has the model " + clip(name) + ", or not for you. GET /v1/models lists those that there are."}
}

// forward has a service answer a request.
func (e *Endpoint) forward(w http.ResponseWriter, r *http.Request, by api.Principal) {
	q, done, err := e.read(w, r)
	defer done()
	if err != nil {
		asProblem(err).write(w)
		return
	}
	until := e.cfg.Clock.Boot() + e.cfg.Settings().Wait
	tried := map[api.RankRef]bool{}
	for denied := 0; ; {
		s, b, end, err := e.choose(r.Context(), by, q.model, until, tried)
		if err == nil {
			err = e.pass(w, r, s, b, end, q.as(s.as))
		}
		away, isAway := errors.AsType[*unreached](err)
		switch {
		case err == nil || r.Context().Err() != nil:
			return
		case !isAway:
			asProblem(err).write(w)
			return
		case errors.Is(away, api.ReasonPeerNotAllowed):
			// It may not know the attempt yet.
			if denied++; denied > maxDenied {
				newProblem(http.StatusForbidden, "not_allowed", "The Mac where "+clip(q.model)+" runs does not run your jobs as the account that has it: see `fulmen users` there.").write(w)
				return
			}
		}
		tried[s.rank] = true
	}
}

// maxDenied is how often a Mac may refuse until that counts.
const maxDenied = 8

// unreached is why a service could not be connected to: it has seen nothing of the request.
type unreached struct{ cause error }

// Error implements error.
func (u *unreached) Error() string { return "the service cannot be reached: " + u.cause.Error() }

// Unwrap gives the cause.
func (u *unreached) Unwrap() error { return u.cause }

// paced gives a client its time to read each part.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// Write implements http.ResponseWriter.
func (p paced) Write(part []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.within)) // a connection of net/http has one
	return p.ResponseWriter.Write(part)
}

// Unwrap is for http.ResponseController.
func (p paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
