fork do
  Process.setsid
  fork do
    trap('TERM', 'IGNORE')
    File.write("#{ARGV[1]}.new", Process.pid.to_s)
    File.rename("#{ARGV[1]}.new", ARGV[1])
    sleep
  end
end
Process.wait
require 'socket'
sleep 0.01 until File.exist?(ARGV[1])
server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
loop { server.accept.close }
