# frozen_string_literal: true

# Serves the application by the web server that SERVER names, on 127.0.0.1 and the port in PORT.

require_relative 'cloud_controller'

host = '127.0.0.1'
port = Integer(ENV.fetch('PORT'))
threads = Integer(ENV.fetch('THREADS')) # for servers that have a pool of them
workers = Integer(ENV.fetch('WORKERS')) # processes, for servers that have them
DB.fill_pool if workers == 1

case ENV.fetch('SERVER')
when 'thin'
  require 'thin'
  Thin::Logging.silent = true
  server = Thin::Server.new(host, port, CloudController)
  # As the Cloud Controller ran it: requests are answered by EventMachine's pool of threads, not by its loop.
  server.threaded = true
  server.threadpool_size = threads
  server.maximum_persistent_connections = server.maximum_connections
  server.start
when 'webrick'
  require 'rack/handler/webrick'
  %w[INT TERM].each { |signal| trap(signal) { Rack::Handler::WEBrick.shutdown } }
  # A thread a connection, whatever THREADS says.
  Rack::Handler::WEBrick.run(CloudController, BindAddress: host, Port: port, MaxClients: 1024, AccessLog: [],
                                              Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN))
when 'puma'
  require 'puma'
  require 'puma/configuration'
  require 'puma/launcher'
  configuration = Puma::Configuration.new do |config|
    config.app CloudController
    config.bind "tcp://#{host}:#{port}"
    config.environment 'production'
    config.threads threads, threads
    if workers > 1
      config.workers workers
      config.preload_app!
      # A connection must not be shared by two processes.
      config.before_fork { DB.disconnect }
      config.on_worker_boot { DB.fill_pool }
    end
  end
  Puma::Launcher.new(configuration).run
else
  abort "server.rb: SERVER is #{ENV['SERVER']}; it takes thin, webrick or puma"
end
