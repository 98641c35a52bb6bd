require 'socket'
server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
loop do
  client = server.accept
  nil until (line = client.gets).nil? || line == "\r\n"
  client.write "HTTP/1.1 #{ENV['STATUS'] || '200 OK'}\r\nContent-Length: 2\r\n\r\nok"
  client.close
end
