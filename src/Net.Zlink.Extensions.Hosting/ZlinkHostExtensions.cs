using System.Net.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Runs a host with Zlink parts.</summary>
public static class ZlinkHostExtensions
{
    // What a shell and an orchestrator take for a failure.
    private const int Failed = 1;

    /// <summary>Runs a host until it is stopped, as <c>RunAsync</c> does. Where a setting or an endpoint is wrong, or the web server cannot
    /// listen at its address, it writes one message in place of an exception with its stack trace, and runs nothing.</summary>
    /// <remarks>It opens the host's sockets before the host starts, so that the host does not log the same fault.</remarks>
    /// <param name="host">The host; disposed when the task completes.</param>
    /// <param name="error">Where the message is written; null: the standard error output.</param>
    /// <param name="cancellationToken">Stops the host.</param>
    /// <returns>The exit code, for <c>Main</c> to return: 0 when the host was stopped, 1 when it could not start.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="host"/> is null.</exception>
    /// <exception cref="Exception">Anything else that ends the host.</exception>
    public static async Task<int> RunZlinkAsync(this IHost host, TextWriter? error = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(host);
        try
        {
            host.Services.GetService<IStartupValidator>()?.Validate();
            foreach (ZlinkHost zlink in host.Services.GetServices<IHostedService>().OfType<ZlinkHost>())
            {
                zlink.Open(cancellationToken);
            }

            await host.RunAsync(cancellationToken).ConfigureAwait(false);
            return 0;
        }
        catch (Exception e) when (SentenceOf(e) is { } sentence)
        {
            await (error ?? Console.Error).WriteLineAsync(
                $"The program cannot start. {sentence}{Environment.NewLine}"
                + "Correct it in appsettings.json, an environment variable (two underscores for a colon), the command line, or the code.")
                .ConfigureAwait(false);
            return Failed;
        }
        finally
        {
            await DisposeAsync(host).ConfigureAwait(false);
        }
    }

    /// <summary>Of a setting that is wrong, or an address that the web server cannot have; null: it is another fault.</summary>
    private static string? SentenceOf(Exception e) => e switch
    {
        ZlinkSettingException or OptionsValidationException => e.Message,
        AggregateException all when all.InnerExceptions.All(static one => SentenceOf(one) is not null) =>
            string.Join(Environment.NewLine, all.InnerExceptions.Select(SentenceOf)),
        _ when e.GetBaseException() is SocketException
        {
            SocketErrorCode: SocketError.AddressAlreadyInUse or SocketError.AddressNotAvailable or SocketError.AccessDenied
        } => e is SocketException ? $"The server cannot listen at its address: {e.Message}." : e.Message,
        _ => null,
    };

    private static async ValueTask DisposeAsync(IHost host)
    {
        if (host is IAsyncDisposable disposable)
        {
            await disposable.DisposeAsync().ConfigureAwait(false);
        }
        else
        {
            host.Dispose();
        }
    }
}
