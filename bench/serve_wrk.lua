-- bench/serve_wrk.lua: for wrk, as serving.py runs it. With SENTENCES in the environment each request is a POST of the next line
-- of that file, in JSON: BODY with %s for the line. In the end a line of JSON: requests a second, and milliseconds of latency.
local requests, next_request = {}, 0

local function quoted(text)
    return '"' .. text:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

function init()
    local path, body = os.getenv("SENTENCES"), os.getenv("BODY")
    if not path then
        return
    end
    for line in io.lines(path) do
        local text = body:gsub("%%s", function() return quoted(line) end)
        requests[#requests + 1] = wrk.format("POST", nil, {["Content-Type"] = "application/json"}, text)
    end
end

function request()
    if #requests == 0 then
        return wrk.format()
    end
    next_request = next_request % #requests + 1
    return requests[next_request]
end

function done(summary, latency)
    local failed = summary.errors
    print(string.format('{"rate": %.1f, "mean": %.3f, "p50": %.3f, "p99": %.3f, "requests": %d, "errors": %d}',
        summary.requests / summary.duration * 1e6, latency.mean / 1e3, latency:percentile(50) / 1e3,
        latency:percentile(99) / 1e3, summary.requests,
        failed.connect + failed.read + failed.write + failed.status + failed.timeout))
end
