# syntax=docker/dockerfile:1
# One image for all services; its first argument selects one: docs/operations/images.md.

# Has a shell, tar, npm and the Node that goes into the image.
ARG BUILD_BASE=node:24-bookworm-slim
# Needs the C and C++ libraries only: neither shell, nor package manager, nor Node.
ARG BASE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_BASE} AS source
WORKDIR /app
COPY . .
# Not `npm ci`: docs/decisions/0001-sources-run-as-they-are.md has the reason.
# The authorities that the build base trusts, a company's proxy say, are not those that Node brings along.
RUN export NODE_USE_SYSTEM_CA=1 && npm install --no-save --no-audit --no-fund --no-progress --ignore-scripts

# For skaffold.yaml: runs the sources, and again when one changes (docs/operations/skaffold.md). Files are where the image for production has them.
FROM source AS development
RUN node scripts/build-console.ts && node scripts/build-docs.ts && mkdir original /data && cp -r libs services original && touch libs/.filled services/.filled && \
    ln -s scripts/images/development.ts netfacts.js && chown -R 65532:65532 libs services /data
ENV NODE_ENV=development \
    NODE_OPTIONS=--max-old-space-size-percentage=50 \
    NODE_COMPILE_CACHE=/tmp/compiled \
    NETFACTS_HOME=/data \
    INGEST_STATE_DIR=/data/ingest
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/node", "/app/netfacts.js"]

FROM source AS build
RUN node scripts/images.ts --tree /tree

FROM ${BASE} AS production
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="netfacts" \
      org.opencontainers.image.description="IP, routing and ASN intelligence API that you run yourself" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /tree/ /
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-old-space-size-percentage=50 \
    NODE_COMPILE_CACHE=/app/compiled \
    NODE_COMPILE_CACHE_PORTABLE=1 \
    NETFACTS_HOME=/data \
    INGEST_STATE_DIR=/data/ingest
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/node", "/app/netfacts.js"]
