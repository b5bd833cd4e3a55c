package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestExport(t *testing.T) {
	for _, c := range []struct {
		args string
		want api.LinkExportParams
	}{
		{"hostfile", api.LinkExportParams{Form: api.ExportHostfile, Backend: api.BackendAuto}},
		{"hostfile --backend ring mac-mini mac-studio", api.LinkExportParams{Form: api.ExportHostfile, Backend: api.BackendRing, Nodes: []api.NodeRef{"mac-mini", "mac-studio"}}},
		{"hostfile --network utun4 --network 10.0.0.0/24,en0", api.LinkExportParams{Form: api.ExportHostfile, Backend: api.BackendAuto, Networks: []string{"utun4", "10.0.0.0/24", "en0"}}},
		{"matrix --backend jaccl-ring", api.LinkExportParams{Form: api.ExportMatrix, Backend: api.BackendJACCLRing}},
		{"dot", api.LinkExportParams{Form: api.ExportDOT}},
		{"json", api.LinkExportParams{Form: api.ExportJSON}},
	} {
		t.Run(c.args, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.daemon.Set("link.export", func(raw json.RawMessage) (any, error) {
				var got api.LinkExportParams
				is.NoErr(json.Unmarshal(raw, &got))
				is.Equal(got, c.want)
				return api.LinkExportResult{Text: "the file\n", Notes: []api.Cause{{Message: "The cable is slow."}}}, nil
			})
			is.Equal(r.app.Run(t.Context(), append([]string{"export"}, strings.Fields(c.args)...)), api.ExitOK)
			is.Equal(r.out.String(), "the file\n") // and nothing that is not of it
			is.Equal(r.err.String(), "fulmen: The cable is slow.\n")
		})
	}
	for _, args := range []string{"export dot mac-mini", "export hostfile --backend mpi", "export matrix --network en0", "export picture"} {
		is := is.New(t)
		r := newRig(t, "")
		is.Equal(r.app.Run(t.Context(), strings.Fields(args)), api.ExitUsage)
	}
}
