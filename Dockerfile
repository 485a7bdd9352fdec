# `nodewright` in a pod. Build it where the repository is: docker build -t <repository>:<tag> .
# The chart (charts/nodewright) then wants image.repository and image.tag.

FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.mjs

FROM node:22-slim
WORKDIR /nodewright
# The bundle holds all it needs; package.json says that it is a module.
COPY --from=build /build/package.json ./
COPY --from=build /build/dist ./dist
# The user for whom the chart's volumes are readable. Nothing is written to disk.
USER 65532:65532
ENV NODE_ENV=production
EXPOSE 8080 8081
ENTRYPOINT ["node", "/nodewright/dist/nodewright.js"]
CMD ["run"]
