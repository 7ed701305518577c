# docker build -t matrix-noise . && docker run matrix-noise            (make run)
# docker run matrix-noise make test
# It has not been built where it was written, which has no Docker: the steps are those of README.md.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install --no-install-recommends --yes chromium git make procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /suite
COPY . .
RUN make .venv/ready

CMD ["make", "run"]
