{{/*
Secrets as files under /etc/netfacts, only those that a component needs: `nats` and `mongodb` are its needs, `component` its name at NATS.
The template yields the sources of one projected volume.
*/}}
{{- define "netfacts.secretSources" -}}
{{- $needs := .needs -}}
{{- with .root.Values -}}
{{- if has "nats" $needs -}}
{{- if ne .nats.auth.method "none" }}
- secret:
    name: {{ .nats.auth.existingSecret | quote }}
    items: [{ key: {{ default $.component .nats.auth.key | quote }}, path: nats-{{ .nats.auth.method }} }]
{{- end }}
{{- with .nats.tls.caSecret }}
- secret:
    name: {{ . | quote }}
    items: [{ key: {{ $.root.Values.nats.tls.caKey | quote }}, path: nats-ca.crt }]
{{- end }}
{{- with .nats.tls.clientSecret }}
- secret:
    name: {{ . | quote }}
    items: [{ key: tls.crt, path: nats-client.crt }, { key: tls.key, path: nats-client.key }]
{{- end }}
{{- end }}
{{- if has "mongodb" $needs }}
- secret:
    name: {{ .mongodb.existingSecret | quote }}
    items: [{ key: {{ .mongodb.key | quote }}, path: mongodb-uri }]
{{- with .mongodb.caSecret }}
- secret:
    name: {{ . | quote }}
    items: [{ key: {{ $.root.Values.mongodb.caKey | quote }}, path: mongodb-ca.crt }]
{{- end }}
{{- end }}
{{- if has "proxyToken" $needs }}
- secret:
    name: {{ .proxyToken.existingSecret | quote }}
    items: [{ key: {{ .proxyToken.key | quote }}, path: proxy-token }]
{{- end }}
{{- if and (has "adminKey" $needs) .adminKey.existingSecret }}
- secret:
    name: {{ .adminKey.existingSecret | quote }}
    items: [{ key: {{ .adminKey.key | quote }}, path: admin-key }]
{{- end }}
{{- if and (has "peppers" $needs) .peppers.existingSecret }}
- secret:
    name: {{ .peppers.existingSecret | quote }}
    items: [{ key: {{ .peppers.key | quote }}, path: peppers }]
{{- end }}
{{- end -}}
{{- end -}}

{{/* The settings that name these files, and the rest of the login. */}}
{{- define "netfacts.secretEnv" -}}
{{- $needs := .needs -}}
{{- with .root.Values -}}
{{- if has "nats" $needs -}}
- { name: NATS_URL, value: {{ .nats.url | quote }} }
{{- if eq .nats.auth.method "password" }}
- { name: NATS_USER, value: {{ default $.component .nats.auth.user | quote }} }
- { name: NATS_PASSWORD_FILE, value: /etc/netfacts/nats-password }
{{- else if eq .nats.auth.method "token" }}
- { name: NATS_TOKEN_FILE, value: /etc/netfacts/nats-token }
{{- else if eq .nats.auth.method "nkey" }}
- { name: NATS_NKEY_SEED_FILE, value: /etc/netfacts/nats-nkey }
{{- else if eq .nats.auth.method "creds" }}
- { name: NATS_CREDS_FILE, value: /etc/netfacts/nats-creds }
{{- else }}
- { name: NATS_ALLOW_UNAUTHENTICATED, value: "true" }
{{- end }}
{{- if .nats.tls.caSecret }}
- { name: NATS_CA_FILE, value: /etc/netfacts/nats-ca.crt }
{{- end }}
{{- if .nats.tls.clientSecret }}
- { name: NATS_CERT_FILE, value: /etc/netfacts/nats-client.crt }
- { name: NATS_KEY_FILE, value: /etc/netfacts/nats-client.key }
{{- end }}
{{- end }}
{{- if has "mongodb" $needs }}
- { name: MONGODB_URI_FILE, value: /etc/netfacts/mongodb-uri }
{{- end }}
{{- if has "proxyToken" $needs }}
- { name: PROXY_TOKEN_FILE, value: /etc/netfacts/proxy-token }
{{- end }}
{{- if and (has "adminKey" $needs) .adminKey.existingSecret }}
- { name: ADMIN_KEY_FILE, value: /etc/netfacts/admin-key }
{{- end }}
{{- if and (has "peppers" $needs) .peppers.existingSecret }}
- { name: KEY_PEPPERS_FILE, value: /etc/netfacts/peppers }
{{- end }}
{{- end -}}
{{- end -}}
