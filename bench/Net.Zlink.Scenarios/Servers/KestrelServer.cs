using System.Buffers;
using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Wire;
using Samples;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>Kestrel: a ConnectionHandler on its pipes for tcp and TLS, ASP.NET Core's WebSockets for ws and wss.</summary>
internal sealed class KestrelServer : IEchoServer
{
    private readonly WebApplication _application;
    private readonly Counter _counter;

    private KestrelServer(WebApplication application, Counter counter, string endpoint)
    {
        _application = application;
        _counter = counter;
        Endpoint = endpoint;
    }

    public string Endpoint { get; }

    public static async Task<KestrelServer> StartAsync(Address address, ServerSettings settings)
    {
        IPEndPoint endPoint = await address.ResolveAsync(CancellationToken.None);
        var counter = new Counter();
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.Services.AddSingleton(counter);
        builder.WebHost.UseKestrelHttpsConfiguration();
        builder.WebHost.UseSockets(sockets => sockets.Backlog = settings.Backlog);
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.Limits.MaxConcurrentConnections = null;
            kestrel.Limits.MaxConcurrentUpgradedConnections = null;
            kestrel.Listen(endPoint, listen =>
            {
                if (address.IsTls)
                {
                    listen.UseHttps(CertificateMaker.Make($"CN={address.Host}", [address.Host]));
                }

                if (address.IsWebSocket)
                {
                    listen.Protocols = HttpProtocols.Http1;
                }
                else
                {
                    listen.UseConnectionHandler<EchoHandler>();
                }
            });
        });
        WebApplication application = builder.Build();
        if (address.IsWebSocket)
        {
            application.UseWebSockets(new Microsoft.AspNetCore.Builder.WebSocketOptions { KeepAliveInterval = TimeSpan.Zero });
            application.Run(context => ServeWebSocketAsync(context, counter));
        }

        try
        {
            await application.StartAsync();
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            await application.DisposeAsync();
            throw new RequestException($"Kestrel cannot listen on {address}: {e.Message}", e);
        }

        string bound = application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
        return new KestrelServer(application, counter, address.WithPort(new Uri(bound).Port).ToString());
    }

    public ServerCounts GetCounts() => new(_counter.Value, Dropped: null);

    public async ValueTask DisposeAsync()
    {
        // Connections that are still there are not waited for.
        await _application.StopAsync(new CancellationToken(canceled: true));
        await _application.DisposeAsync();
    }

    private static async Task ServeWebSocketAsync(HttpContext context, Counter counter)
    {
        counter.Add(1);
        try
        {
            using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
            await using Stream stream = WebSocketStream.Create(socket, WebSocketMessageType.Binary, ownsWebSocket: false);
            await StreamEcho.RunAsync(stream);
        }
        catch (Exception e) when (IoStreamErrors.IsOfConnection(e))
        {
            // The client left.
        }
        finally
        {
            counter.Add(-1);
        }
    }

    /// <summary>How many connections there are.</summary>
    private sealed class Counter
    {
        private long _value;

        public long Value => Interlocked.Read(ref _value);

        public void Add(long by) => Interlocked.Add(ref _value, by);
    }

    private sealed class EchoHandler(Counter counter) : ConnectionHandler
    {
        // As the other stacks: the library's own limit.
        private const int LongestPayload = 8 * 1024 * 1024;

        public override async Task OnConnectedAsync(ConnectionContext connection)
        {
            counter.Add(1);
            try
            {
                while (true)
                {
                    System.IO.Pipelines.ReadResult result = await connection.Transport.Input.ReadAsync();
                    ReadOnlySequence<byte> whole = WholeFrames(result.Buffer, out bool isRight);
                    if (!isRight)
                    {
                        return;
                    }

                    foreach (ReadOnlyMemory<byte> part in whole)
                    {
                        connection.Transport.Output.Write(part.Span);
                    }

                    // Behind AdvanceTo the sequence is the pipe's again, and cannot be asked any more.
                    bool hasAnswer = !whole.IsEmpty;
                    connection.Transport.Input.AdvanceTo(whole.End, result.Buffer.End);
                    if (hasAnswer)
                    {
                        await connection.Transport.Output.FlushAsync();
                    }

                    if (result.IsCompleted)
                    {
                        return;
                    }
                }
            }
            catch (Exception e) when (e is ConnectionResetException or ConnectionAbortedException or IOException)
            {
                // The client left.
            }
            finally
            {
                counter.Add(-1);
            }
        }

        private static ReadOnlySequence<byte> WholeFrames(ReadOnlySequence<byte> buffer, out bool isRight)
        {
            var reader = new SequenceReader<byte>(buffer);
            SequencePosition end = buffer.Start;
            isRight = true;
            while (reader.TryReadBigEndian(out int length))
            {
                if ((uint)length > LongestPayload)
                {
                    isRight = false;
                    break;
                }

                if (reader.Remaining < length)
                {
                    break;
                }

                reader.Advance(length);
                end = reader.Position;
            }

            return buffer.Slice(buffer.Start, end);
        }
    }
}
