require 'socket'
GC.disable
server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
serve = proc do
  loop do
    client = server.accept
    path = client.gets.split[1]
    nil until (line = client.gets).nil? || line == "\r\n"
    Integer(path[1..], exception: false)&.times { GC.start }
    if path == '/fork'
      fork do
        client.close
        serve.()
      end
    end
    client.write "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    client.close
  end
end
# Nobody answers before both are there.
waits, go = IO.pipe
2.times do
  fork do
    go.close
    waits.read
    serve.()
  end
end
go.close
Process.waitall
