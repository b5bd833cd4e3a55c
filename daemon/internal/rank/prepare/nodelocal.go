package prepare

import "strings"

// Rule says whose value of a variable a rank gets.
type Rule string

const (
	// Never takes the submitter's value: the node's own, or none.
	Never Rule = "never"
	// Prefer takes the node's own value where it has one, and the submitter's otherwise.
	Prefer Rule = "prefer"
)

// Row is a variable, or all that begin with what is before a * at the end.
type Row struct {
	// Name is the variable's.
	Name string
	// Rule is whose value counts.
	Rule Rule
	// Why is the reason, as the end of a sentence that begins with "it".
	Why string
}

// Table lists the variables that belong to a node. All others are the submitter's.
func Table() []Row {
	return []Row{
		{"PATH", Never, "says where the node's programs are"},
		{"HOME", Never, "is the account's folder"},
		{"USER", Never, "names the account"},
		{"LOGNAME", Never, "names the account"},
		{"SHELL", Never, "is the account's shell"},
		{"PWD", Never, "follows from the directory"},
		{"OLDPWD", Never, "follows from the directory"},
		{"TMPDIR", Never, "is the account's folder for temporary files"},
		{"TMP", Never, "is the account's folder for temporary files"},
		{"TEMP", Never, "is the account's folder for temporary files"},
		{"VIRTUAL_ENV", Never, "follows from the Python environment"},
		{"VIRTUAL_ENV_PROMPT", Never, "follows from the Python environment"},
		{"CONDA_PREFIX", Never, "follows from the Python environment"},
		{"CONDA_DEFAULT_ENV", Never, "follows from the Python environment"},
		{"CONDA_*", Never, "says where the node's conda is"},
		{"_CE_*", Never, "says where the node's conda is"},
		{"PYTHONHOME", Never, "would be the library of another interpreter"},
		{"PYTHONEXECUTABLE", Never, "would be another interpreter"},
		{"__PYVENV_LAUNCHER__", Never, "would be another interpreter"},
		{"PYENV_ROOT", Never, "says where the node's interpreters are"},
		{"PYENV_DIR", Never, "says where the node's interpreters are"},
		{"XDG_RUNTIME_DIR", Never, "is a folder of a login session on one node"},
		{"SSH_*", Never, "belongs to a connection of one node"},
		{"XPC_*", Never, "belongs to a service of one node"},
		{"__CF*", Never, "belongs to an application of one node"},
		{"TERM_SESSION_ID", Never, "belongs to a window of one node"},
		{"SECURITYSESSIONID", Never, "belongs to a login session of one node"},
		{"LaunchInstanceID", Never, "belongs to a login session of one node"},
		{"SHLVL", Never, "counts shells"},
		{"_", Never, "is the last command of a shell"},
		{"XDG_*", Prefer, "says where the account keeps things"},
		{"HF_HOME", Prefer, "says where the node keeps models"},
		{"HF_HUB_CACHE", Prefer, "says where the node keeps models"},
		{"HF_XET_CACHE", Prefer, "says where the node keeps models"},
		{"HF_ASSETS_CACHE", Prefer, "says where the node keeps models"},
		{"HF_DATASETS_CACHE", Prefer, "says where the node keeps data sets"},
		{"HF_TOKEN_PATH", Prefer, "says where the account keeps its token"},
		{"HUGGINGFACE_HUB_CACHE", Prefer, "says where the node keeps models"},
		{"TRANSFORMERS_CACHE", Prefer, "says where the node keeps models"},
		{"TORCH_HOME", Prefer, "says where the node keeps models"},
		{"UV_CACHE_DIR", Prefer, "says where the node keeps packages"},
		{"PIP_CACHE_DIR", Prefer, "says where the node keeps packages"},
		{"PYTHONPYCACHEPREFIX", Prefer, "says where the node keeps compiled modules"},
		{"HOMEBREW_*", Prefer, "says where the node's programs are"},
		{"http_proxy", Prefer, "is the way from the node to the internet"},
		{"https_proxy", Prefer, "is the way from the node to the internet"},
		{"no_proxy", Prefer, "is the way from the node to the internet"},
		{"HTTP_PROXY", Prefer, "is the way from the node to the internet"},
		{"HTTPS_PROXY", Prefer, "is the way from the node to the internet"},
		{"NO_PROXY", Prefer, "is the way from the node to the internet"},
	}
}

// Lookup finds the row of a variable; the first that fits counts. Without one it
// is the submitter's.
func Lookup(name string) (Row, bool) {
	for _, row := range Table() {
		prefix, many := strings.CutSuffix(row.Name, "*")
		if name == row.Name || many && strings.HasPrefix(name, prefix) {
			return row, true
		}
	}
	return Row{}, false
}
