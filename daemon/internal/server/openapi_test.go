package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/schematest"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// fields is a part of a document.
func fields(of any, path ...string) map[string]any {
	for _, name := range path {
		of = of.(map[string]any)[name]
	}
	out, _ := of.(map[string]any)
	return out
}

// refs finds all references.
func refs(of any, found func(string)) {
	switch here := of.(type) {
	case map[string]any:
		for name, value := range here {
			if ref, isText := value.(string); name == "$ref" && isText {
				found(ref)
			}
			refs(value, found)
		}
	case []any:
		for _, value := range here {
			refs(value, found)
		}
	}
}

// What is served describes each method and address that the server has, with references that
// lead somewhere, and real answers are as it says.
func TestOpenAPI(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) {
		c.Schema = api.Schema()
		c.Handlers = server.Handlers{
			"instance.list": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.InstanceListResult, error) {
				return api.InstanceListResult{Instances: []api.Instance{{Name: "m", Model: api.ModelSelect{Model: "org/m"}, Engine: "e", Sharding: api.ShardingTensor,
					InstanceJob: api.InstanceJob{URL: "http://127.0.0.1:1", Port: 1, Job: "j4k2m9xq7", Phase: api.JobRunning, Attempt: 1, Nodes: []api.NodeID{servertest.Node}}}}}, nil
			}),
			"instance.delete": server.Handle(func(context.Context, *server.Caller, api.InstanceSelect) (api.Empty, error) {
				return api.Empty{}, api.NewError(api.ReasonNoSuchJob, "x")
			}),
		}
	})
	a.Facts.Put(memory(t, 4))
	c := calls{a, t, true}
	got := c.do("GET", "/v1/openapi.json", "")
	is.Equal(got.StatusCode, 200)
	document, err := schematest.Parse([]byte(c.text(got)))
	is.NoErr(err)
	v := schematest.Validator{Root: document.(map[string]any)}
	is.Equal(v.Root["openapi"], "3.1.0")
	is.True(fields(document, "info")["title"] != "" && fields(document, "info")["version"] == "1")
	refs(document, func(ref string) {
		if _, ok := v.Definition(ref); !ok {
			t.Errorf("%s leads nowhere", ref)
		}
	})
	ids := map[string]bool{}
	for path, verbs := range fields(document, "paths") {
		for verb, one := range verbs.(map[string]any) {
			operation := fields(one)
			id := operation["operationId"].(string)
			if ids[id] || fields(operation, "responses", "200")["description"] == nil || fields(operation, "responses", "default")["description"] == nil {
				t.Errorf("%s %s is incomplete, or %s there twice", verb, path, id)
			}
			ids[id] = true
			request, err := http.NewRequest(strings.ToUpper(verb), strings.ReplaceAll(path, "{name}", "x"), nil)
			is.NoErr(err)
			if method := server.MethodOf(request); method != operation["x-method"] {
				t.Errorf("%s %s calls %s, not %s", verb, path, method, operation["x-method"])
			}
		}
	}
	for _, m := range api.Methods() {
		if !ids[m.Name] {
			t.Errorf("%s is missing", m.Name)
		}
	}
	is.Equal(len(ids), len(api.Methods())+4)

	answer := func(verb, path, body string) (schema, value any) {
		t.Helper()
		got := c.do(verb, path, body, "Content-Type", asJSON)
		kind, status := got.Header.Get("Content-Type"), "200"
		if got.StatusCode != 200 {
			status = "default"
		}
		path = strings.Replace(path, "/x", "/{name}", 1)
		schema = fields(document, "paths", path, strings.ToLower(verb), "responses", status, "content", kind)["schema"]
		value, err := schematest.Parse([]byte(c.text(got)))
		is.NoErr(err)
		is.NoErr(v.Check(schema, value, path))
		return schema, value
	}
	answer("POST", "/v1/state.get", "{}")
	answer("DELETE", "/v1/instances/x", "")
	answer("POST", "/v1/state.get", `{"kinds":["x"]}`)
	schema, value := answer("GET", "/v1/instances", "")
	delete(fields(value.(map[string]any)["instances"].([]any)[0]), "name")
	is.True(v.Check(schema, value, "") != nil) // so that it is not as good as anything
	params, err := json.Marshal(api.InstanceApplyParams{Instance: api.InstanceSpec{Model: api.ModelSelect{Model: "m"}}})
	is.NoErr(err)
	body, err := schematest.Parse(params)
	is.NoErr(err)
	is.NoErr(v.Check(fields(document, "paths", "/v1/instances", "post", "requestBody", "content", asJSON)["schema"], body, ""))
}
