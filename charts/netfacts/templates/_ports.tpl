{{/*
Ports that a policy lets out, as a JSON list: those of the values, then those that URLs name. Give ports, urls, and standard: the port of each scheme
where a URL has none; the scheme of `host` or `host:port` is "plain".
*/}}
{{- define "netfacts.ports" -}}
{{- $standard := .standard -}}
{{- $ports := list -}}
{{- range .ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- range .urls -}}
{{- $url := trim . -}}
{{- if $url -}}
{{- $scheme := regexFind "^[a-z]+://" $url -}}
{{- $place := regexReplaceAll "[/?#].*$" (trimPrefix $scheme $url) "" -}}
{{- /* Not the end of an IPv6 address without brackets. */ -}}
{{- $port := regexFind ":[0-9]+$" (regexFind "^([^:]*|\\[.*\\]):[0-9]+$" $place) | trimPrefix ":" -}}
{{- $ports = append $ports (int (default (index $standard (default "plain" (trimSuffix "://" $scheme))) $port)) -}}
{{- end -}}
{{- end -}}
{{- uniq $ports | toJson -}}
{{- end -}}
