# frozen_string_literal: true

# A Cloud Controller as far as `GET /v2/organizations/:guid/spaces` needs one: log-in, organisations, spaces. It is the same source on every
# Ruby and on every web server; only the database's driver differs, because MRI's is written in C and JRuby's in Java.

require 'json'
require 'openssl'
require 'securerandom'
require 'sequel'
require 'sinatra/base'

# The database of this launch, by a pool of DATABASE_POOL connections in each process, which `DB.fill_pool` opens.
DB = begin
  port = Integer(ENV.fetch('DATABASE_PORT'))
  place = "127.0.0.1:#{port}/cloud_controller?user=cloud_controller"
  url = RUBY_ENGINE == 'jruby' ? "jdbc:postgresql://#{place}" : "postgres://#{place}"
  tries = 0
  begin
    Sequel.connect(url, max_connections: Integer(ENV.fetch('DATABASE_POOL', '100')))
  rescue Sequel::DatabaseConnectionError
    # PostgreSQL's port is open a moment before it serves.
    raise if (tries += 1) > 20

    sleep 0.1
    retry
  end
end
Sequel.default_timezone = :utc

# To be called in each process before it serves, so that no connection is opened in a measurement.
def DB.fill_pool = pool.send(:preconnect)

class User < Sequel::Model
  def password?(password)
    Rack::Utils.secure_compare(password_digest, OpenSSL::Digest::SHA256.hexdigest(salt + password))
  end

  def scope
    admin ? %w[cloud_controller.read cloud_controller.admin] : %w[cloud_controller.read]
  end
end

class SpaceQuotaDefinition < Sequel::Model
end

class Organization < Sequel::Model
  one_to_many :spaces
  many_to_many :users, join_table: :organizations_users

  dataset_module do
    def of_member(user)
      where(id: DB[:organizations_users].where(user_id: user.id).select(:organization_id))
    end
  end

  def member?(user) = !users_dataset.where(Sequel[:users][:id] => user.id).empty?

  def url = "/v2/organizations/#{guid}"

  def entity
    { name: name, status: status, spaces_url: "#{url}/spaces" }
  end
end

class Space < Sequel::Model
  many_to_one :organization
  many_to_one :space_quota_definition

  # The tables of who has which role in which space.
  ROLES = %i[spaces_developers spaces_managers spaces_auditors].freeze
  # What else the Cloud Controller knows of a space, each under an address of its own.
  RELATED = %i[developers managers auditors apps routes domains service_instances app_events events security_groups
               staging_security_groups].freeze

  dataset_module do
    # Those in which the user has any role.
    def with_role_of(user)
      spaces = ROLES.map { |role| DB[role].where(user_id: user.id).select(:space_id) }
      where(Sequel[:spaces][:id] => spaces.reduce { |all, others| all.union(others, from_self: false) })
    end
  end

  def url = "/v2/spaces/#{guid}"

  def entity
    {
      name: name,
      organization_guid: organization.guid,
      space_quota_definition_guid: space_quota_definition&.guid,
      isolation_segment_guid: nil,
      allow_ssh: allow_ssh,
      organization_url: organization.url,
      space_quota_definition_url: space_quota_definition && "/v2/space_quota_definitions/#{space_quota_definition.guid}",
      **RELATED.to_h { |related| [:"#{related}_url", "#{url}/#{related}"] }
    }
  end
end

# A bearer token: a JSON Web Token signed with a key that this launch has made up and never shows, so that there is no secret in the study.
module Token
  KEY = SecureRandom.bytes(32)
  LIFETIME = Integer(ENV.fetch('TOKEN_LIFETIME', '600')) # seconds

  module_function

  def issue(user)
    now = Time.now.to_i
    claims = { user_id: user.guid, user_name: user.username, scope: user.scope, iat: now, exp: now + LIFETIME }
    unsigned = [{ alg: 'HS256', typ: 'JWT' }, claims].map { |part| encode(JSON.generate(part)) }.join('.')
    "#{unsigned}.#{signature(unsigned)}"
  end

  # What the token says; nil unless we have signed it and it still holds.
  def claims(token)
    unsigned, _, signed = token.rpartition('.')
    return unless Rack::Utils.secure_compare(signature(unsigned), signed)

    claims = JSON.parse(unsigned[/\.(.*)/, 1].tr('-_', '+/').unpack1('m'))
    claims if claims['exp'] > Time.now.to_i
  end

  def signature(text) = encode(OpenSSL::HMAC.digest('SHA256', KEY, text))

  def encode(bytes) = [bytes].pack('m0').tr('+/', '-_').delete('=')
end

class CloudController < Sinatra::Base
  # Status, code and description of the Cloud Controller's errors.
  ERRORS = {
    'CF-InvalidAuthToken' => [401, 1000, 'Invalid Auth Token'],
    'CF-NotAuthenticated' => [401, 10_002, 'Authentication error'],
    'CF-NotAuthorized' => [403, 10_003, 'You are not authorized to perform the requested action'],
    'CF-BadQueryParameter' => [400, 10_005, 'The query parameter is invalid'],
    'CF-NotFound' => [404, 10_000, 'Unknown request'],
    'CF-DatabaseError' => [500, 10_011, 'Database error'],
    'CF-OrganizationNotFound' => [404, 30_003, 'The organization could not be found']
  }.freeze
  MOST_PER_PAGE = 100

  configure do
    set environment: :production, logging: false, dump_errors: false, raise_errors: false, show_exceptions: false
  end

  # Whether this launch can serve: it has reached its database.
  get('/healthz') { DB.get(1).to_s }

  get '/v2/info' do
    json(name: 'cloud-controller', server: request.env['SERVER_SOFTWARE'][%r{[[:alpha:] ]+[ /][\d.]+}],
         libraries: "rack #{Rack.release}, sinatra #{Sinatra::VERSION}, sequel #{Sequel.version}",
         of_the_ruby: "json #{JSON::VERSION}, #{driver}")
  end

  # As the UAA does it, which would be a server of its own.
  post '/oauth/token' do
    user = User.first(username: params['username'].to_s)
    unless params['grant_type'] == 'password' && user&.password?(params['password'].to_s)
      halt 401, json(error: 'unauthorized', error_description: 'Bad credentials')
    end
    json(access_token: Token.issue(user), token_type: 'bearer', expires_in: Token::LIFETIME, scope: user.scope.join(' '))
  end

  get '/v2/organizations' do
    page(sees_all? ? Organization.dataset : Organization.of_member(user))
  end

  get '/v2/organizations/:guid/spaces' do |guid|
    organization = Organization.first(guid: guid) || refuse('CF-OrganizationNotFound')
    refuse('CF-NotAuthorized') unless sees_all? || organization.member?(user)
    spaces = organization.spaces_dataset
    spaces = spaces.with_role_of(user) unless sees_all?
    page(spaces.eager(:organization, :space_quota_definition))
  end

  error(Sinatra::NotFound) { error_document('CF-NotFound') }

  error Sequel::Error do |error|
    # Told to whoever asks, too, so that a run says why its requests failed.
    reason = "#{error.class}: #{error.message.split.join(' ')}"
    warn reason
    error_document('CF-DatabaseError', reason)
  end

  helpers do
    def user
      @user ||= User.first(guid: claims['user_id']) || refuse('CF-InvalidAuthToken')
    end

    def driver
      RUBY_ENGINE == 'jruby' ? DB.synchronize { |connection| "pgjdbc #{connection.meta_data.driver_version}" } : "pg #{PG::VERSION}"
    end

    def sees_all? = user && claims['scope'].include?('cloud_controller.admin')

    def claims
      @claims ||= begin
        token = request.env['HTTP_AUTHORIZATION'].to_s[/\Abearer (.+)\z/i, 1] || refuse('CF-NotAuthenticated')
        Token.claims(token) || refuse('CF-InvalidAuthToken')
      end
    end

    # One page of a dataset, as the Cloud Controller shows it.
    def page(dataset)
      number = parameter('page', 1, 1..)
      size = parameter('results-per-page', 50, 1..MOST_PER_PAGE)
      results = dataset.count
      pages = (results + size - 1) / size
      url = ->(other) { "#{request.path}?order-direction=asc&page=#{other}&results-per-page=#{size}" if other.between?(1, pages) }
      rows = dataset.order(Sequel[dataset.model.table_name][:id]).limit(size, (number - 1) * size).all
      json(
        total_results: results,
        total_pages: pages,
        prev_url: url.call(number - 1),
        next_url: url.call(number + 1),
        resources: rows.map { |row| { metadata: metadata(row), entity: row.entity } }
      )
    end

    def metadata(row)
      { guid: row.guid, url: row.url, created_at: row.created_at.iso8601, updated_at: row.updated_at&.iso8601 }
    end

    def parameter(name, default, range)
      value = Integer(params.fetch(name, default), exception: false)
      range.cover?(value || 0) ? value : refuse('CF-BadQueryParameter')
    end

    def refuse(name) = halt(ERRORS.fetch(name).first, error_document(name))

    def error_document(name, reason = nil)
      code, number, description = ERRORS.fetch(name)
      status code
      json(code: number, description: [description, reason].compact.join(': '), error_code: name)
    end

    def json(document)
      content_type :json
      JSON.pretty_generate(document)
    end
  end
end
