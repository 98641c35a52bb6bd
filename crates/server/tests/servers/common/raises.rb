# Raises and rescues five exceptions for each request of `/`; leaves a block and a `catch` by JRuby's own throwables, looks at
# its stack, and raises one exception a second time, none of which is a raise more.
require 'socket'

def fragile(number)
  raise ArgumentError, 'no' if number >= 0
end

def again
  fragile(4)
rescue ArgumentError => error
  begin
    raise error
  rescue ArgumentError
    error.message
  end
end

def page
  4.times do |number|
    begin
      fragile(number)
    rescue ArgumentError => error
      error.message
    end
  end
  again
  catch(:done) { throw :done }
  [1, 2].each { |number| break if number == 1 }
  caller
  'ok'
end

server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
loop do
  Thread.new(server.accept) do |client|
    while (line = client.gets)
      path = line.split[1]
      nil until (line = client.gets).nil? || line == "\r\n"
      body = path == '/' ? page : 'ok'
      client.write "HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}"
    end
    client.close
  end
end
