{{/* The environment of a service: listeners, its name, logins, what the values say, and its `settings`. */}}
{{- define "netfacts.env" -}}
{{- $values := .root.Values -}}
{{- $own := index $values .section -}}
{{- $fullname := include "netfacts.fullname" .root -}}
- { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: TELEMETRY_HOST, value: {{ $values.listenHost | quote }} }
- { name: LOG_LEVEL, value: {{ $values.logLevel }} }
{{ include "netfacts.secretEnv" . | trim }}
{{- if eq .section "gateway" }}
- { name: HOST, value: {{ $values.listenHost | quote }} }
- { name: DRAIN_SECONDS, value: {{ $own.drainSeconds | quote }} }
{{- with $own.trustedProxies }}
- { name: TRUSTED_PROXIES, value: {{ join "," . | quote }} }
{{- end }}
{{- if $own.operator.enabled }}
- { name: OPERATOR_HOST, value: {{ $values.listenHost | quote }} }
- { name: OPERATOR_PORT, value: "8081" }
- { name: INGEST_URL, value: "http://{{ $fullname }}-ingest:8090" }
{{- end }}
{{- if $own.whois.enabled }}
- { name: WHOIS_HOST, value: {{ $values.listenHost | quote }} }
- { name: WHOIS_PORT, value: "8043" }
{{- end }}
{{- end }}
{{- if has .section (list "ipRouting" "asnPrefix" "ingest") }}
- { name: SNAPSHOT_BUCKET, value: {{ $values.nats.bucket | quote }} }
{{- end }}
{{- if eq .section "rdnsResolver" }}
{{- with $own.resolvers }}
- { name: RESOLVERS, value: {{ join "," . | quote }} }
{{- end }}
{{- end }}
{{- if eq .section "ingest" }}
- { name: POD_IP, valueFrom: { fieldRef: { fieldPath: status.podIP } } }
- { name: SNAPSHOT_REPLICAS, value: {{ $values.nats.snapshotReplicas | quote }} }
- { name: SOURCES, value: {{ include "netfacts.sourcesPath" .root | quote }} }
- { name: INGEST_STATE_DIR, value: /data/ingest }
- { name: INGEST_HOST, value: {{ $values.listenHost | quote }} }
- { name: INGEST_ADVERTISED_HOST, value: "$(POD_IP)" }
{{- end }}
{{- with $values.telemetry }}
{{- if .otlpEndpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ .otlpEndpoint | quote }} }
- { name: OTEL_TRACES_SAMPLER, value: {{ .sampler }} }
- { name: OTEL_TRACES_SAMPLER_ARG, value: {{ .ratio | quote }} }
{{- with .headersSecret }}
- { name: OTEL_EXPORTER_OTLP_HEADERS, valueFrom: { secretKeyRef: { name: {{ . | quote }}, key: {{ $values.telemetry.headersKey | quote }} } } }
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := $own.settings }}
- { name: {{ $name }}, value: {{ if kindIs "float64" $value }}{{ int64 $value | quote }}{{ else }}{{ $value | quote }}{{ end }} }
{{- end }}
{{- end -}}
