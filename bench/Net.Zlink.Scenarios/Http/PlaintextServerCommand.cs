using System.CommandLine;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;
using Net.Zlink.AspNetCore;

namespace Net.Zlink.Scenarios.Http;

/// <summary>A web application with one answer, in a process of its own.</summary>
internal static class PlaintextServerCommand
{
    public const string Name = "plaintext-server";
    public const string Bound = "BOUND ";

    /// <summary>Kestrel's own transport.</summary>
    public const string Sockets = "sockets";

    public const string Zlink = "zlink";

    private static readonly byte[] s_answer = "Hello, World!"u8.ToArray();

    public static Command Create()
    {
        Option<string> transport = new Option<string>("--transport") { Required = true }.AcceptOnlyFromAmong(Sockets, Zlink);
        var command = new Command(Name, "A web application that answers with 13 bytes; 'plaintext' runs it.") { transport };
        command.SetAction(async (request, cancellation) =>
        {
            await RunAsync(request.GetValue(transport) is Zlink, cancellation);
            return 0;
        });
        return command;
    }

    private static async Task RunAsync(bool isZlink, CancellationToken cancellation)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        if (isZlink)
        {
#pragma warning disable ZLINK100 // Experimental: it is measured here.
            builder.WebHost.UseZlinkTransport();
#pragma warning restore ZLINK100
        }
        else
        {
            builder.WebHost.UseSockets(static sockets => sockets.Backlog = new StreamOptions().Backlog);
        }

        await using WebApplication application = builder.Build();
        application.Run(static context =>
        {
            context.Response.ContentType = "text/plain";
            context.Response.ContentLength = s_answer.Length;
            return context.Response.Body.WriteAsync(s_answer).AsTask();
        });
        await application.StartAsync(cancellation);
        Console.WriteLine(Bound + new Uri(application.Urls.Single()).Port);
        await Console.In.ReadLineAsync(cancellation);
    }
}
