# A small JRuby application whose work for a request is known: each answer is a table of WORK rows, each row made by the same Ruby code.
# 1,050 rows in place of 1,000 are 5 % more of it; what the web server costs besides is the same, and small beside that many rows.
# `GET /?ROWS` asks for another number of them (truth.py).
require "json"

java_import "com.sun.net.httpserver.HttpServer"
java_import "java.net.InetSocketAddress"

ROWS = Integer(ENV.fetch("WORK", "1000"))
NAMES = %w[build test package deploy verify].freeze

def row(number)
  name = NAMES[number % NAMES.size]
  state = number.even? ? "passed" : "failed"
  tags = name.chars.sort.map(&:upcase).join("-")
  { id: number, name: "#{name}-#{number}", state: state, tags: tags, minutes: (number * 37 % 60).to_s.rjust(2, "0") }
end

# What is answered is the same whatever the work is: the first rows of the table.
def page(count)
  rows = Array.new(count) { |number| row(number) }
  JSON.generate(jobs: rows.first(20))
end

server = HttpServer.create(InetSocketAddress.new("127.0.0.1", Integer(ENV.fetch("PORT"))), 0)
server.create_context("/") do |exchange|
  body = page(exchange.request_uri.query&.to_i || ROWS).to_java_bytes
  exchange.response_headers.set("Content-Type", "application/json")
  exchange.send_response_headers(200, body.length)
  exchange.response_body.write(body)
  exchange.close
end
server.start
# The interpreter stays, so that it can be asked what it runs with.
sleep
